package org.rushlight.nn;

import java.util.function.UnaryOperator;
import org.rushlight.Tensor;

/**
 * Attention of the source to itself, then two linear layers; each adds to its input, and a {@link LayerNorm} follows.
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

    /** What a TransformerEncoderLayer does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long dModel;
        final long nhead;
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
    public TransformerEncoderLayer(long dModel, long nhead) {
        this(new Options(dModel, nhead));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
     * The next state of the source.
     *
     * @param source {@code (step, batch, feature)}
     * @param masks what does not count
     * @return like the source
     */
    public Tensor forward(Tensor source, Transformer.Masks masks) {
        checkOpen();
        Tensor attended = selfAttn.forward(source, source, source, masks.ofSource()).output();
        Tensor middle = norm1.forward(source.add(dropout1.forward(attended)));
        Tensor result = linear2.forward(dropout.forward(options.activation.apply(linear1.forward(middle))));
        return norm2.forward(middle.add(dropout2.forward(result)));
    }

    /** Where libtorch copies a layer, each part below it draws its parameters once more: the random numbers go on from there. */
    private static void drawAsLibtorch(TransformerEncoderLayer layer) {
        for (Module module : layer.modules()) {
            if (module instanceof MultiheadAttention attention) {
                attention.resetParameters();
            } else if (module instanceof Linear linear) {
                linear.resetParameters();
            }
        }
    }

    /** A layer of its own with the same options and the same weights. */
    TransformerEncoderLayer copy() {
        TransformerEncoderLayer copy = new TransformerEncoderLayer(options);
        drawAsLibtorch(copy);
        copy.loadStateDict(stateDict());
        return copy;
    }
}
