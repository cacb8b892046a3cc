package org.rushlight.nn;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rushlight.NoGrad;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Sums, means or maxima of bags of rows of a table. */
public final class EmbeddingBag extends Module {
    /** What becomes of the rows of a bag. */
    public enum Mode {
        /** Their sum. */
        SUM,
        /** Their mean. */
        MEAN,
        /** The largest of each column. */
        MAX
    }

    private final Options options;
    private final Tensor weight;
    private final @Nullable Long paddingIdx;

    /** What a EmbeddingBag does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long numEmbeddings;
        final long embeddingDim;
        @Nullable Long paddingIdx;
        @Nullable Double maxNorm;
        double normType = 2;
        boolean scaleGradByFreq = false;
        boolean sparse = false;
        @Nullable Tensor weight;
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
            this.numEmbeddings = numEmbeddings;
            this.embeddingDim = embeddingDim;
        }

        /**
         * Sets paddingIdx: row that has no gradient and is zero at first; negative numbers count from the end.
         *
         * @param value row that has no gradient and is zero at first; negative numbers count from the end
         * @return the changed options
         */
        public Options withPaddingIdx(long value) {
            return with(options -> options.paddingIdx = value);
        }

        /**
         * Sets maxNorm: rows of a larger norm are scaled down to it, in the table itself.
         *
         * @param value rows of a larger norm are scaled down to it, in the table itself
         * @return the changed options
         */
        public Options withMaxNorm(double value) {
            return with(options -> options.maxNorm = value);
        }

        /**
         * Sets normType: degree of that norm.
         *
         * @param value degree of that norm
         * @return the changed options
         */
        public Options withNormType(double value) {
            return with(options -> options.normType = value);
        }

        /**
         * Sets scaleGradByFreq: divide gradients by how often an index is in the batch.
         *
         * @param value divide gradients by how often an index is in the batch
         * @return the changed options
         */
        public Options withScaleGradByFreq(boolean value) {
            return with(options -> options.scaleGradByFreq = value);
        }

        /**
         * Sets sparse: ask for a sparse gradient.
         *
         * @param value ask for a sparse gradient
         * @return the changed options
         */
        public Options withSparse(boolean value) {
            return with(options -> options.sparse = value);
        }

        /**
         * Sets weight: a table that is there already.
         *
         * @param value a table that is there already
         * @return the changed options
         */
        public Options withWeight(Tensor value) {
            return with(options -> options.weight = value);
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
        if (embeddings.dim() != 2) {
            throw new TensorValueException("Embeddings parameter is expected to be 2-dimensional");
        }
        EmbeddingBag layer = new EmbeddingBag(options.withWeight(embeddings));
        layer.weight.requires_grad_(!freeze);
        return layer;
    }

    /** Draws the table anew. */
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
     * The table.
     *
     * @return the parameter
     */
    public Tensor weight() {
        return weight;
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
