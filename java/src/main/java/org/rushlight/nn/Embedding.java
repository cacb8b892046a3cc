package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * An embedding table: looks up rows by index, {@code (*) -> (*, embedding_dim)}.
 *
 * <pre>{@code
 * try (Embedding table = new Embedding(10, 3)) {
 *     System.out.println(Arrays.toString(table.forward(Tensor.of(new long[][] {{1, 2}, {9, 0}})).shape())); // [2, 2, 3]
 * }
 * }</pre>
 */
public final class Embedding extends EmbeddingTable<Embedding.Options> {
    /** Options of {@link Embedding}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends EmbeddingOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param numEmbeddings number of rows of the table
         * @param embeddingDim size of an embedding vector
         */
        public Options(long numEmbeddings, long embeddingDim) {
            super(numEmbeddings, embeddingDim);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param numEmbeddings number of rows of the table
     * @param embeddingDim size of an embedding vector
     */
    public Embedding(long numEmbeddings, long embeddingDim) {
        this(new Options(numEmbeddings, embeddingDim));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
     * Creates a layer with a given table, which is not trained.
     *
     * @param embeddings table of shape {@code (num_embeddings, embedding_dim)}, which the layer shares
     * @return the layer
     */
    public static Embedding fromPretrained(Tensor embeddings) {
        return fromPretrained(embeddings, true, new Options(embeddings.size(0), embeddings.size(-1)));
    }

    /**
     * Creates a layer with a given table.
     *
     * @param embeddings table of shape {@code (num_embeddings, embedding_dim)}, which the layer shares
     * @param freeze whether to exclude the table from training
     * @param options the options of the layer
     * @return the layer
     */
    public static Embedding fromPretrained(Tensor embeddings, boolean freeze, Options options) {
        Embedding layer = new Embedding(pretrained(embeddings, options));
        layer.weight.requiresGrad_(!freeze);
        return layer;
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.numEmbeddings).add(options.embeddingDim).namedIf(paddingIdx != null, "padding_idx", paddingIdx)
            .namedIf(options.maxNorm != null, "max_norm", options.maxNorm).namedIf(options.normType != 2, "norm_type", options.normType)
            .namedIf(options.scaleGradByFreq, "scale_grad_by_freq", true).namedIf(options.sparse, "sparse", true).toString();
    }
}
