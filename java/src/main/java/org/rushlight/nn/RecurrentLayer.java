package org.rushlight.nn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Base class of {@link RNN}, {@link LSTM} and {@link GRU}: weights and checks. The recurrences are operators. */
public abstract class RecurrentLayer extends Module {
    final RecurrentOptions<?> options;
    private final boolean lstm;
    private final List<Tensor> weights = new ArrayList<>();

    RecurrentLayer(int gates, RecurrentOptions<?> options) {
        this.options = options;
        this.lstm = gates == 4;
        long hidden = options.hiddenSize;
        check(options.dropout >= 0 && options.dropout <= 1,
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed");
        check(hidden > 0, "hidden_size must be greater than zero");
        check(options.numLayers > 0, "num_layers must be greater than zero");
        check(options.projSize >= 0 && options.projSize < hidden,
            "proj_size has to be a positive integer, smaller than hidden_size or zero to disable projections");
        check(options.projSize == 0 || lstm, "proj_size argument is only supported for LSTM, not RNN or GRU");
        for (long layer = 0; layer < options.numLayers; layer++) {
            for (int direction = 0; direction < directions(); direction++) {
                String suffix = "_l" + layer + (direction == 1 ? "_reverse" : "");
                long features = layer == 0 ? options.inputSize : stateSize() * directions();
                add("weight_ih" + suffix, gates * hidden, features);
                add("weight_hh" + suffix, gates * hidden, stateSize());
                if (options.bias) {
                    add("bias_ih" + suffix, gates * hidden);
                    add("bias_hh" + suffix, gates * hidden);
                }
                if (options.projSize > 0) {
                    add("weight_hr" + suffix, options.projSize, hidden);
                }
            }
        }
        resetParameters();
    }

    private static void check(boolean fine, String message) {
        if (!fine) {
            throw new TensorValueException(message);
        }
    }

    private void add(String name, long... shape) {
        weights.add(registerParameter(name, Torch.empty(shape)));
    }

    /** Resets the weights to newly sampled values. */
    public final void resetParameters() {
        double bound = 1 / Math.sqrt(options.hiddenSize);
        weights.forEach(weight -> Init.uniform(weight, -bound, bound));
    }

    final Tensor[] weights() {
        return weights.toArray(Tensor[]::new);
    }

    final int directions() {
        return options.bidirectional ? 2 : 1;
    }

    /** Number of features of a hidden state. */
    final long stateSize() {
        return options.projSize > 0 ? options.projSize : options.hiddenSize;
    }

    /** Checks the features of an input; packed inputs have no batch dimension. */
    final void checkInput(Tensor input, int dims) {
        if (input.dim() != dims) {
            throw new TensorValueException("input must have " + dims + " dimensions, got " + input.dim());
        }
        if (input.size(-1) != options.inputSize) {
            throw new TensorValueException(
                "input.size(-1) must be equal to input_size. Expected " + options.inputSize + ", got " + input.size(-1));
        }
    }

    /** Returns the initial state: zeros by default. */
    final Tensor state(@Nullable Tensor given, Tensor input, long batch, long features, String what) {
        long layers = options.numLayers * directions();
        if (given == null) {
            return Torch.zeros(new long[] {layers, batch, features}, input.options());
        }
        if (!Arrays.equals(given.shape(), new long[] {layers, batch, features})) {
            throw new TensorValueException("Expected " + what + " size (" + layers + ", " + batch + ", " + features + "), got "
                + Sizes.text(given));
        }
        return given;
    }

    /** Treats an input without a batch dimension as a batch of one. */
    final boolean isUnbatched(Tensor input) {
        return input.dim() == 2;
    }

    final int batchDim() {
        return options.batchFirst ? 0 : 1;
    }

    @Override
    protected final String extraRepr() {
        return new Repr().add(options.inputSize).add(options.hiddenSize).namedIf(options.projSize != 0, "proj_size", options.projSize)
            .namedIf(options.numLayers != 1, "num_layers", options.numLayers).namedIf(!options.bias, "bias", false)
            .namedIf(options.batchFirst, "batch_first", true).namedIf(options.dropout != 0, "dropout", options.dropout)
            .namedIf(options.bidirectional, "bidirectional", true).toString();
    }
}
