package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * A table whose rows are looked up: {@code (*) -> (*, length)}.
 *
 * <pre>{@code
 * try (Embedding table = new Embedding(10, 3)) {
 *     System.out.println(Arrays.toString(table.forward(Tensor.of(new long[][] {{1, 2}, {9, 0}})).shape())); // [2, 2, 3]
 * }
 * }</pre>
 */
public final class Embedding extends EmbeddingTable<Embedding.Options> {
    /** What an Embedding does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends EmbeddingOptions<Options> {
        /**
         * The defaults of PyTorch.
         *
         * @param numEmbeddings rows of the table
         * @param embeddingDim length of a row
         */
        public Options(long numEmbeddings, long embeddingDim) {
            super(numEmbeddings, embeddingDim);
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param numEmbeddings rows of the table
     * @param embeddingDim length of a row
     */
    public Embedding(long numEmbeddings, long embeddingDim) {
        this(new Options(numEmbeddings, embeddingDim));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public Embedding(Options options) {
        super(options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.embedding(
            input, weight, paddingIdx, options.maxNorm, options.normType, options.scaleGradByFreq, options.sparse);
    }

    /**
     * A layer with a table that is there already, and is not trained.
     *
     * @param embeddings the table, {@code (rows, length)}; the two share it
     * @return the layer
     */
    public static Embedding fromPretrained(Tensor embeddings) {
        return fromPretrained(embeddings, true, new Options(embeddings.size(0), embeddings.size(-1)));
    }

    /**
     * A layer with a table that is there already.
     *
     * @param embeddings the table, {@code (rows, length)}; the two share it
     * @param freeze do not train it
     * @param options what the layer does
     * @return the layer
     */
    public static Embedding fromPretrained(Tensor embeddings, boolean freeze, Options options) {
        Embedding layer = new Embedding(pretrained(embeddings, options));
        layer.weight.requires_grad_(!freeze);
        return layer;
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.numEmbeddings).add(options.embeddingDim).namedIf(paddingIdx != null, "padding_idx", paddingIdx)
            .namedIf(options.maxNorm != null, "max_norm", options.maxNorm).namedIf(options.normType != 2, "norm_type", options.normType)
            .namedIf(options.scaleGradByFreq, "scale_grad_by_freq", true).namedIf(options.sparse, "sparse", true).toString();
    }
}
