package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Base class of {@link RNNCell}, {@link LSTMCell} and {@link GRUCell}. */
public abstract class RecurrentCell extends Module {
    final RecurrentCellOptions<?> options;
    final Tensor weightIh;
    final Tensor weightHh;
    final @Nullable Tensor biasIh;
    final @Nullable Tensor biasHh;

    RecurrentCell(int gates, RecurrentCellOptions<?> options) {
        this.options = options;
        long size = gates * options.hiddenSize;
        weightIh = registerParameter("weight_ih", Torch.empty(size, options.inputSize));
        weightHh = registerParameter("weight_hh", Torch.empty(size, options.hiddenSize));
        biasIh = options.bias ? registerParameter("bias_ih", Torch.empty(size)) : null;
        biasHh = options.bias ? registerParameter("bias_hh", Torch.empty(size)) : null;
        double bound = 1 / Math.sqrt(options.hiddenSize);
        parameters().forEach(weight -> Init.uniform(weight, -bound, bound));
    }

    static void check(Tensor tensor, String what) {
        if (tensor.dim() != 1 && tensor.dim() != 2) {
            throw new TensorValueException("Expected " + what + " to be 1D or 2D, got " + tensor.dim() + "D instead");
        }
    }

    /** Returns a zero state for an input. */
    final Tensor zeros(Tensor input) {
        TensorOptions like = input.options();
        return input.dim() == 1
            ? Torch.zeros(new long[] {options.hiddenSize}, like)
            : Torch.zeros(new long[] {input.size(0), options.hiddenSize}, like);
    }

    static Tensor batched(Tensor tensor) {
        return tensor.dim() == 1 ? tensor.unsqueeze(0) : tensor;
    }

    @Override
    protected final String extraRepr() {
        return new Repr().add(options.inputSize).add(options.hiddenSize).namedIf(!options.bias, "bias", false)
            .namedIf(options.nonlinearity != Nonlinearity.TANH, "nonlinearity", "relu").toString();
    }
}
