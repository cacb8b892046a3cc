package org.rushlight.nn;

import java.util.function.UnaryOperator;
import org.rushlight.Tensor;

/**
 * An encoder layer: self-attention of the source, then a feedforward network; each with a residual connection and a
 * {@link LayerNorm}.
 *
 * <pre>{@code
 * try (TransformerEncoderLayer layer = new TransformerEncoderLayer(8, 2)) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(5, 3, 8)).shape())); // [5, 3, 8]
 * }
 * }</pre>
 */
public final class TransformerEncoderLayer extends Module {
    private final Options options;
    private final MultiheadAttention selfAttn;
    private final Linear linear1;
    private final Dropout dropout;
    private final Linear linear2;
    private final LayerNorm norm1;
    private final LayerNorm norm2;
    private final Dropout dropout1;
    private final Dropout dropout2;

    /** Options of {@link TransformerEncoderLayer}. Immutable: each {@code with} method returns a changed copy. */
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
    public TransformerEncoderLayer(long dModel, long nhead) {
        this(new Options(dModel, nhead));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public TransformerEncoderLayer(Options options) {
        this.options = options;
        long model = options.dModel;
        MultiheadAttention.Options attention = new MultiheadAttention.Options(model, options.nhead).withDropout(options.dropout);
        selfAttn = registerModule("self_attn", new MultiheadAttention(attention));
        linear1 = registerModule("linear1", new Linear(model, options.dimFeedforward));
        dropout = registerModule("dropout", new Dropout(options.dropout));
        linear2 = registerModule("linear2", new Linear(options.dimFeedforward, model));
        norm1 = registerModule("norm1", new LayerNorm(model));
        norm2 = registerModule("norm2", new LayerNorm(model));
        dropout1 = registerModule("dropout1", new Dropout(options.dropout));
        dropout2 = registerModule("dropout2", new Dropout(options.dropout));
    }

    @Override
    public Tensor forward(Tensor source) {
        return forward(source, new Transformer.Masks());
    }

    /**
     * Applies the layer.
     *
     * @param source tensor of shape {@code (S, N, E)}
     * @param masks the masks
     * @return tensor of the shape of the source
     */
    public Tensor forward(Tensor source, Transformer.Masks masks) {
        checkOpen();
        Tensor attended = selfAttn.forward(source, source, source, masks.ofSource()).output();
        Tensor middle = norm1.forward(source.add(dropout1.forward(attended)));
        Tensor result = linear2.forward(dropout.forward(options.activation.apply(linear1.forward(middle))));
        return norm2.forward(middle.add(dropout2.forward(result)));
    }

    /** When libtorch copies a layer, its parts sample their parameters again; this consumes the same random numbers. */
    private static void drawAsLibtorch(TransformerEncoderLayer layer) {
        for (Module module : layer.modules()) {
            if (module instanceof MultiheadAttention attention) {
                attention.resetParameters();
            } else if (module instanceof Linear linear) {
                linear.resetParameters();
            }
        }
    }

    /** Returns a separate layer with the same options and weights. */
    TransformerEncoderLayer copy() {
        TransformerEncoderLayer copy = new TransformerEncoderLayer(options);
        drawAsLibtorch(copy);
        copy.loadStateDict(stateDict());
        return copy;
    }
}
