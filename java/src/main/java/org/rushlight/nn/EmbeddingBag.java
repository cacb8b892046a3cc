package org.rushlight.nn;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Computes the sum, mean or maximum of bags of embeddings.
 *
 * <pre>{@code
 * try (EmbeddingBag table = new EmbeddingBag(10, 3)) {
 *     Tensor bags = table.forward(Tensor.of(1L, 2L, 4L, 5L), Tensor.of(0L, 3L), null); // three words, then one
 *     System.out.println(Arrays.toString(bags.shape())); // [2, 3]
 * }
 * }</pre>
 */
public final class EmbeddingBag extends EmbeddingTable<EmbeddingBag.Options> {
    /** Reduction of the rows of a bag. */
    public enum Mode {
        /** The sum. */
        SUM,
        /** The mean. */
        MEAN,
        /** The maximum of each column. */
        MAX
    }

    /** Options of {@link EmbeddingBag}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends EmbeddingOptions<Options> {
        Mode mode = Mode.MEAN;
        boolean includeLastOffset = false;

        void check(boolean weighted) {
            if (mode == Mode.MAX && scaleGradByFreq) {
                throw new TensorValueException("max mode does not support scaling the gradient by the frequency");
            }
            if (mode == Mode.MAX && sparse) {
                throw new TensorValueException("max mode does not support sparse weights");
            }
            if (weighted && mode != Mode.SUM) {
                throw new TensorValueException("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for"
                    + " mode='sum' (got mode='" + mode.name().toLowerCase(Locale.ROOT) + "'). Please open a feature request on GitHub.");
            }
        }

        /**
         * Creates PyTorch's default options.
         *
         * @param numEmbeddings number of rows of the table
         * @param embeddingDim size of an embedding vector
         */
        public Options(long numEmbeddings, long embeddingDim) {
            super(numEmbeddings, embeddingDim);
        }

        /**
         * Sets mode: reduction of the rows of a bag (default {@code MEAN}).
         *
         * @param value reduction of the rows of a bag (default {@code MEAN})
         * @return the changed options
         */
        public Options withMode(Mode value) {
            return with(options -> options.mode = value);
        }

        /**
         * Sets includeLastOffset: whether the last offset is the end of the last bag (default false).
         *
         * @param value whether the last offset is the end of the last bag (default false)
         * @return the changed options
         */
        public Options withIncludeLastOffset(boolean value) {
            return with(options -> options.includeLastOffset = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param numEmbeddings number of rows of the table
     * @param embeddingDim size of an embedding vector
     */
    public EmbeddingBag(long numEmbeddings, long embeddingDim) {
        this(new Options(numEmbeddings, embeddingDim));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public EmbeddingBag(Options options) {
        super(options);
    }

    @Override
    public Tensor forward(Tensor input) {
        return forward(input, null, null);
    }

    /**
     * Creates a layer with a given table, which is not trained.
     *
     * @param embeddings table of shape {@code (num_embeddings, embedding_dim)}, which the layer shares
     * @return the layer
     */
    public static EmbeddingBag fromPretrained(Tensor embeddings) {
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
    public static EmbeddingBag fromPretrained(Tensor embeddings, boolean freeze, Options options) {
        EmbeddingBag layer = new EmbeddingBag(pretrained(embeddings, options));
        layer.weight.requiresGrad_(!freeze);
        return layer;
    }

    /**
     * Reduces the bags.
     *
     * @param input indices: all bags concatenated, of shape {@code (N)}, or bags of fixed length, of shape {@code (B,
     *     N)}
     * @param offsets start of each bag, of shape {@code (B)}; null for an input of shape {@code (B, N)}
     * @param perSampleWeights weights of the rows, for sums only; or null
     * @return tensor of shape {@code (B, embedding_dim)}
     */
    public Tensor forward(Tensor input, @Nullable Tensor offsets, @Nullable Tensor perSampleWeights) {
        checkOpen();
        Options known = options;
        if (options.paddingIdx != null && paddingIdx != null) {
            known = options.withPaddingIdx(paddingIdx);
        }
        return Functional.embeddingBag(input, weight, offsets, known, perSampleWeights);
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.numEmbeddings).add(options.embeddingDim)
            .namedIf(options.maxNorm != null, "max_norm", options.maxNorm).namedIf(options.normType != 2, "norm_type", options.normType)
            .namedIf(options.scaleGradByFreq, "scale_grad_by_freq", true).namedIf(options.sparse, "sparse", true)
            .named("mode", "'" + options.mode.name().toLowerCase(Locale.ROOT) + "'")
            .namedIf(paddingIdx != null, "padding_idx", paddingIdx).toString();
    }
}
