package org.rushlight.nn;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Sums, means or maxima of bags of rows of a table.
 *
 * <pre>{@code
 * try (EmbeddingBag table = new EmbeddingBag(10, 3)) {
 *     Tensor bags = table.forward(Tensor.of(1L, 2L, 4L, 5L), Tensor.of(0L, 3L), null); // three words, then one
 *     System.out.println(Arrays.toString(bags.shape())); // [2, 3]
 * }
 * }</pre>
 */
public final class EmbeddingBag extends EmbeddingTable<EmbeddingBag.Options> {
    /** What becomes of the rows of a bag. */
    public enum Mode {
        /** Their sum. */
        SUM,
        /** Their mean. */
        MEAN,
        /** The largest of each column. */
        MAX
    }

    /** What an EmbeddingBag does. Immutable: each {@code with} returns a changed copy. */
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
         * The defaults of PyTorch.
         *
         * @param numEmbeddings rows of the table
         * @param embeddingDim length of a row
         */
        public Options(long numEmbeddings, long embeddingDim) {
            super(numEmbeddings, embeddingDim);
        }

        /**
         * Sets mode: what becomes of the rows of a bag.
         *
         * @param value what becomes of the rows of a bag
         * @return the changed options
         */
        public Options withMode(Mode value) {
            return with(options -> options.mode = value);
        }

        /**
         * Sets includeLastOffset: the last offset ends the last bag.
         *
         * @param value the last offset ends the last bag
         * @return the changed options
         */
        public Options withIncludeLastOffset(boolean value) {
            return with(options -> options.includeLastOffset = value);
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param numEmbeddings rows of the table
     * @param embeddingDim length of a row
     */
    public EmbeddingBag(long numEmbeddings, long embeddingDim) {
        this(new Options(numEmbeddings, embeddingDim));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public EmbeddingBag(Options options) {
        super(options);
    }

    @Override
    public Tensor forward(Tensor input) {
        return forward(input, null, null);
    }

    /**
     * A layer with a table that is there already, and is not trained.
     *
     * @param embeddings the table, {@code (rows, length)}; the two share it
     * @return the layer
     */
    public static EmbeddingBag fromPretrained(Tensor embeddings) {
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
    public static EmbeddingBag fromPretrained(Tensor embeddings, boolean freeze, Options options) {
        EmbeddingBag layer = new EmbeddingBag(pretrained(embeddings, options));
        layer.weight.requires_grad_(!freeze);
        return layer;
    }

    /**
     * Bags of rows.
     *
     * @param input numbers of rows: all bags one after the other, or a matrix of a bag per line
     * @param offsets where bags begin, or null for a matrix
     * @param perSampleWeights factor of each row for sums, or null
     * @return one row per bag
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
