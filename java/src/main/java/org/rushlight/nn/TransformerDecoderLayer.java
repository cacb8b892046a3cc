package org.rushlight.nn;

import java.util.function.UnaryOperator;
import org.rushlight.Tensor;

/**
 * A decoder layer: self-attention of the target, attention to the memory, then a feedforward network; each with a
 * residual connection and a {@link LayerNorm}.
 *
 * <pre>{@code
 * try (TransformerDecoderLayer layer = new TransformerDecoderLayer(8, 2)) {
 *     Tensor y = layer.forward(Torch.ones(6, 3, 8), Torch.ones(5, 3, 8), new Transformer.Masks());
 *     System.out.println(Arrays.toString(y.shape())); // [6, 3, 8]
 * }
 * }</pre>
 */
public final class TransformerDecoderLayer extends Module {
    private final Options options;
    private final MultiheadAttention selfAttn;
    private final MultiheadAttention multiheadAttn;
    private final Linear linear1;
    private final Dropout dropout;
    private final Linear linear2;
    private final LayerNorm norm1;
    private final LayerNorm norm2;
    private final LayerNorm norm3;
    private final Dropout dropout1;
    private final Dropout dropout2;
    private final Dropout dropout3;

    /** Options of {@link TransformerDecoderLayer}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long dModel;
        final long nhead;
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
    public TransformerDecoderLayer(long dModel, long nhead) {
        this(new Options(dModel, nhead));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public TransformerDecoderLayer(Options options) {
        this.options = options;
        long model = options.dModel;
        MultiheadAttention.Options attention = new MultiheadAttention.Options(model, options.nhead).withDropout(options.dropout);
        selfAttn = registerModule("self_attn", new MultiheadAttention(attention));
        multiheadAttn = registerModule("multihead_attn", new MultiheadAttention(attention));
        linear1 = registerModule("linear1", new Linear(model, options.dimFeedforward));
        dropout = registerModule("dropout", new Dropout(options.dropout));
        linear2 = registerModule("linear2", new Linear(options.dimFeedforward, model));
        norm1 = registerModule("norm1", new LayerNorm(model));
        norm2 = registerModule("norm2", new LayerNorm(model));
        norm3 = registerModule("norm3", new LayerNorm(model));
        dropout1 = registerModule("dropout1", new Dropout(options.dropout));
        dropout2 = registerModule("dropout2", new Dropout(options.dropout));
        dropout3 = registerModule("dropout3", new Dropout(options.dropout));
    }

    /**
     * Applies the layer.
     *
     * @param target tensor of shape {@code (T, N, E)}
     * @param memory output of the encoder
     * @param masks the masks
     * @return tensor of the shape of the target
     */
    public Tensor forward(Tensor target, Tensor memory, Transformer.Masks masks) {
        checkOpen();
        Tensor attended = selfAttn.forward(target, target, target, masks.ofTarget()).output();
        Tensor own = norm1.forward(target.add(dropout1.forward(attended)));
        attended = multiheadAttn.forward(own, memory, memory, masks.ofMemory()).output();
        Tensor middle = norm2.forward(own.add(dropout2.forward(attended)));
        Tensor result = linear2.forward(dropout.forward(options.activation.apply(linear1.forward(middle))));
        return norm3.forward(middle.add(dropout3.forward(result)));
    }

    /** When libtorch copies a layer, its parts sample their parameters again; this consumes the same random numbers. */
    private static void drawAsLibtorch(TransformerDecoderLayer layer) {
        for (Module module : layer.modules()) {
            if (module instanceof MultiheadAttention attention) {
                attention.resetParameters();
            } else if (module instanceof Linear linear) {
                linear.resetParameters();
            }
        }
    }

    /** Returns a separate layer with the same options and weights. */
    TransformerDecoderLayer copy() {
        TransformerDecoderLayer copy = new TransformerDecoderLayer(options);
        drawAsLibtorch(copy);
        copy.loadStateDict(stateDict());
        return copy;
    }
}
