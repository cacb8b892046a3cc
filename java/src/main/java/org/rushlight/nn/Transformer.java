package org.rushlight.nn;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * An encoder whose result a decoder attends to (Vaswani et al. 2017).
 *
 * <pre>{@code
 * try (Transformer net = new Transformer(new Transformer.Options(8, 2).withDimFeedforward(16))) {
 *     System.out.println(Arrays.toString(net.forward(Torch.ones(5, 3, 8), Torch.ones(6, 3, 8)).shape())); // [6, 3, 8]
 * }
 * }</pre>
 */
public final class Transformer extends Module {
    private final Options options;
    private final TransformerEncoder encoder;
    private final TransformerDecoder decoder;

    /** What a Transformer does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long dModel;
        final long nhead;
        long numEncoderLayers = 6;
        long numDecoderLayers = 6;
        long dimFeedforward = 2048;
        double dropout = 0.1;
        UnaryOperator<Tensor> activation = Functional::relu;

        /**
         * The defaults of PyTorch.
         *
         * @param dModel features of a step
         * @param nhead heads of the attentions
         */
        public Options(long dModel, long nhead) {
            this.dModel = dModel;
            this.nhead = nhead;
        }

        /**
         * Sets numEncoderLayers: layers of the encoder.
         *
         * @param value layers of the encoder
         * @return the changed options
         */
        public Options withNumEncoderLayers(long value) {
            return with(options -> options.numEncoderLayers = value);
        }

        /**
         * Sets numDecoderLayers: layers of the decoder.
         *
         * @param value layers of the decoder
         * @return the changed options
         */
        public Options withNumDecoderLayers(long value) {
            return with(options -> options.numDecoderLayers = value);
        }

        /**
         * Sets dimFeedforward: features between the two linear layers.
         *
         * @param value features between the two linear layers
         * @return the changed options
         */
        public Options withDimFeedforward(long value) {
            return with(options -> options.dimFeedforward = value);
        }

        /**
         * Sets dropout: probability with which elements are dropped in training.
         *
         * @param value probability with which elements are dropped in training
         * @return the changed options
         */
        public Options withDropout(double value) {
            return with(options -> options.dropout = value);
        }

        /**
         * Sets activation: function between the two linear layers.
         *
         * @param value function between the two linear layers
         * @return the changed options
         */
        public Options withActivation(UnaryOperator<Tensor> value) {
            return with(options -> options.activation = value);
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param dModel features of a step
     * @param nhead heads of the attentions
     */
    public Transformer(long dModel, long nhead) {
        this(new Options(dModel, nhead));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public Transformer(Options options) {
        this.options = options;
        try (TransformerEncoderLayer layer = new TransformerEncoderLayer(
                new TransformerEncoderLayer.Options(options.dModel, options.nhead).withDimFeedforward(options.dimFeedforward)
                    .withDropout(options.dropout).withActivation(options.activation))) {
            encoder = new TransformerEncoder(layer, options.numEncoderLayers, new LayerNorm(options.dModel));
        }
        registerModule("encoder", encoder);
        try (TransformerDecoderLayer layer = new TransformerDecoderLayer(
                new TransformerDecoderLayer.Options(options.dModel, options.nhead).withDimFeedforward(options.dimFeedforward)
                    .withDropout(options.dropout).withActivation(options.activation))) {
            decoder = new TransformerDecoder(layer, options.numDecoderLayers, new LayerNorm(options.dModel));
        }
        registerModule("decoder", decoder);
        for (Tensor parameter : parameters()) {
            if (parameter.dim() > 1) {
                Init.xavierUniform(parameter, 1);
            }
        }
    }

    /** What does not count. Immutable: each {@code with} returns a changed copy. */
    public static final class Masks extends ModuleOptions<Masks> {
        private @Nullable Tensor source;
        private @Nullable Tensor target;
        private @Nullable Tensor memory;
        private @Nullable Tensor sourcePadding;
        private @Nullable Tensor targetPadding;
        private @Nullable Tensor memoryPadding;

        /** Everything counts. */
        public Masks() {}

        /**
         * Sets the mask of scores in the encoder.
         *
         * @param value added to the scores, or true where they do not count
         * @return the changed copy
         */
        public Masks withSource(@Nullable Tensor value) {
            return with(masks -> masks.source = value);
        }

        /**
         * Sets the mask of scores among steps of the target.
         *
         * @param value added to the scores, or true where they do not count
         * @return the changed copy
         */
        public Masks withTarget(@Nullable Tensor value) {
            return with(masks -> masks.target = value);
        }

        /**
         * Sets the mask of scores between target and memory.
         *
         * @param value added to the scores, or true where they do not count
         * @return the changed copy
         */
        public Masks withMemory(@Nullable Tensor value) {
            return with(masks -> masks.memory = value);
        }

        /**
         * Sets steps of the source that are padding.
         *
         * @param value true where a step does not count, {@code (batch, step)}
         * @return the changed copy
         */
        public Masks withSourcePadding(@Nullable Tensor value) {
            return with(masks -> masks.sourcePadding = value);
        }

        /**
         * Sets steps of the target that are padding.
         *
         * @param value true where a step does not count, {@code (batch, step)}
         * @return the changed copy
         */
        public Masks withTargetPadding(@Nullable Tensor value) {
            return with(masks -> masks.targetPadding = value);
        }

        /**
         * Sets steps of the memory that are padding.
         *
         * @param value true where a step does not count, {@code (batch, step)}
         * @return the changed copy
         */
        public Masks withMemoryPadding(@Nullable Tensor value) {
            return with(masks -> masks.memoryPadding = value);
        }

        MultiheadAttention.Masks ofSource() {
            return of(source, sourcePadding);
        }

        MultiheadAttention.Masks ofTarget() {
            return of(target, targetPadding);
        }

        MultiheadAttention.Masks ofMemory() {
            return of(memory, memoryPadding);
        }

        private static MultiheadAttention.Masks of(@Nullable Tensor scores, @Nullable Tensor padding) {
            return new MultiheadAttention.Masks().withAttention(scores).withKeyPadding(padding).withNeedWeights(false);
        }
    }

    /**
     * A mask that hides from each step those after it.
     *
     * @param size steps
     * @return {@code (size, size)}
     */
    public static Tensor generateSquareSubsequentMask(long size) {
        return Torch.full(new long[] {size, size}, Double.NEGATIVE_INFINITY).triu(1);
    }

    /**
     * Everything counts.
     *
     * @param source {@code (step, batch, feature)}
     * @param target {@code (step, batch, feature)}
     * @return like the target
     */
    public Tensor forward(Tensor source, Tensor target) {
        return forward(source, target, new Masks());
    }

    /**
     * What the decoder makes of the target and the encoded source.
     *
     * @param source {@code (step, batch, feature)}
     * @param target {@code (step, batch, feature)}
     * @param masks what does not count
     * @return like the target
     */
    public Tensor forward(Tensor source, Tensor target, Masks masks) {
        checkOpen();
        if (source.size(1) != target.size(1)) {
            throw new TensorValueException("the batch number of src and tgt must be equal");
        }
        if (source.size(-1) != options.dModel || target.size(-1) != options.dModel) {
            throw new TensorValueException("the feature number of src and tgt must be equal to d_model");
        }
        return decoder.forward(target, encoder.forward(source, masks), masks);
    }
}
