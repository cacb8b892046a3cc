package org.rushlight.nn;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * A transformer: an encoder, and a decoder that attends to its output (Vaswani et al. 2017).
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

    /** Options of {@link Transformer}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long dModel;
        final long nhead;
        long numEncoderLayers = 6;
        long numDecoderLayers = 6;
        long dimFeedforward = 2048;
        double dropout = 0.1;
        UnaryOperator<Tensor> activation = Functional::relu;

        /**
         * Creates PyTorch's default options.
         *
         * @param dModel number of features
         * @param nhead number of attention heads
         */
        public Options(long dModel, long nhead) {
            this.dModel = dModel;
            this.nhead = nhead;
        }

        /**
         * Sets numEncoderLayers: number of encoder layers (default 6).
         *
         * @param value number of encoder layers (default 6)
         * @return the changed options
         */
        public Options withNumEncoderLayers(long value) {
            return with(options -> options.numEncoderLayers = value);
        }

        /**
         * Sets numDecoderLayers: number of decoder layers (default 6).
         *
         * @param value number of decoder layers (default 6)
         * @return the changed options
         */
        public Options withNumDecoderLayers(long value) {
            return with(options -> options.numDecoderLayers = value);
        }

        /**
         * Sets dimFeedforward: number of features of the feedforward network (default 2048).
         *
         * @param value number of features of the feedforward network (default 2048)
         * @return the changed options
         */
        public Options withDimFeedforward(long value) {
            return with(options -> options.dimFeedforward = value);
        }

        /**
         * Sets dropout: dropout probability (default 0.1).
         *
         * @param value dropout probability (default 0.1)
         * @return the changed options
         */
        public Options withDropout(double value) {
            return with(options -> options.dropout = value);
        }

        /**
         * Sets activation: activation function of the feedforward network (default ReLU).
         *
         * @param value activation function of the feedforward network (default ReLU)
         * @return the changed options
         */
        public Options withActivation(UnaryOperator<Tensor> value) {
            return with(options -> options.activation = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param dModel number of features
     * @param nhead number of attention heads
     */
    public Transformer(long dModel, long nhead) {
        this(new Options(dModel, nhead));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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

    /** The masks. Immutable: each {@code with} method returns a changed copy. */
    public static final class Masks extends ModuleOptions<Masks> {
        private @Nullable Tensor source;
        private @Nullable Tensor target;
        private @Nullable Tensor memory;
        private @Nullable Tensor sourcePadding;
        private @Nullable Tensor targetPadding;
        private @Nullable Tensor memoryPadding;

        /** No masks. */
        public Masks() {}

        /**
         * Sets the attention mask of the encoder.
         *
         * @param value values added to the scores, or booleans that are true at masked positions
         * @return the changed copy
         */
        public Masks withSource(@Nullable Tensor value) {
            return with(masks -> masks.source = value);
        }

        /**
         * Sets the attention mask of the target.
         *
         * @param value values added to the scores, or booleans that are true at masked positions
         * @return the changed copy
         */
        public Masks withTarget(@Nullable Tensor value) {
            return with(masks -> masks.target = value);
        }

        /**
         * Sets the attention mask between target and memory.
         *
         * @param value values added to the scores, or booleans that are true at masked positions
         * @return the changed copy
         */
        public Masks withMemory(@Nullable Tensor value) {
            return with(masks -> masks.memory = value);
        }

        /**
         * Sets the padding mask of the source.
         *
         * @param value booleans that are true at padding, of shape {@code (N, L)}
         * @return the changed copy
         */
        public Masks withSourcePadding(@Nullable Tensor value) {
            return with(masks -> masks.sourcePadding = value);
        }

        /**
         * Sets the padding mask of the target.
         *
         * @param value booleans that are true at padding, of shape {@code (N, L)}
         * @return the changed copy
         */
        public Masks withTargetPadding(@Nullable Tensor value) {
            return with(masks -> masks.targetPadding = value);
        }

        /**
         * Sets the padding mask of the memory.
         *
         * @param value booleans that are true at padding, of shape {@code (N, L)}
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
     * Returns a causal mask, which hides later time steps.
     *
     * @param size number of time steps
     * @return tensor of shape {@code (size, size)}
     */
    public static Tensor generateSquareSubsequentMask(long size) {
        return Torch.full(new long[] {size, size}, Double.NEGATIVE_INFINITY).triu(1);
    }

    /**
     * No masks.
     *
     * @param source tensor of shape {@code (S, N, E)}
     * @param target tensor of shape {@code (T, N, E)}
     * @return tensor of the shape of the target
     */
    public Tensor forward(Tensor source, Tensor target) {
        return forward(source, target, new Masks());
    }

    /**
     * Decodes the target with the encoded source.
     *
     * @param source tensor of shape {@code (S, N, E)}
     * @param target tensor of shape {@code (T, N, E)}
     * @param masks the masks
     * @return tensor of the shape of the target
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
