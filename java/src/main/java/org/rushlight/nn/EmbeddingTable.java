package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.NoGrad;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Base class of {@link Embedding} and {@link EmbeddingBag}: the table.
 *
 * @param <O> the type of the options
 */
abstract class EmbeddingTable<O extends EmbeddingOptions<O>> extends Module {
    final O options;
    final Tensor weight;
    /** The padding index, counted from the start. */
    final @Nullable Long paddingIdx;

    EmbeddingTable(O options) {
        this.options = options;
        long rows = options.numEmbeddings;
        paddingIdx = options.paddingIdx == null ? null : Long.valueOf(Sizes.row(options.paddingIdx, rows));
        Tensor given = options.weight;
        if (given == null) {
            weight = registerParameter("weight", Torch.empty(rows, options.embeddingDim));
            resetParameters();
            return;
        }
        if (!Arrays.equals(given.shape(), new long[] {rows, options.embeddingDim})) {
            throw new TensorValueException("Shape of _weight does not match num_embeddings and embedding_dim");
        }
        weight = registerParameter("weight", given.detach());
    }

    /** Options for a given table. */
    static <O extends EmbeddingOptions<O>> O pretrained(Tensor embeddings, O options) {
        if (embeddings.dim() != 2) {
            throw new TensorValueException("Embeddings parameter is expected to be 2-dimensional");
        }
        return options.withWeight(embeddings);
    }

    /** Resets the table to newly sampled values. */
    public void resetParameters() {
        Init.normal(weight, 0, 1);
        if (paddingIdx != null) {
            try (NoGrad guard = new NoGrad(); Tensor row = weight.select(0, paddingIdx)) {
                assert guard != null;
                row.fill_(0);
            }
        }
    }

    /**
     * Returns the table.
     *
     * @return the parameter
     */
    public Tensor weight() {
        return weight;
    }
}
