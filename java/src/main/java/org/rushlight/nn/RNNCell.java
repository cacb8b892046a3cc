package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * One step of an {@link RNN} of one layer.
 *
 * <pre>{@code
 * try (RNNCell cell = new RNNCell(4, 8)) {
 *     Tensor hidden = cell.forward(Torch.ones(2, 4), null);
 *     hidden = cell.forward(Torch.ones(2, 4), hidden);
 *     System.out.println(Arrays.toString(hidden.shape())); // [2, 8]
 * }
 * }</pre>
 */
public final class RNNCell extends RecurrentCell {
    /**
     * The cell with the defaults.
     *
     * @param inputSize features of a step of the input
     * @param hiddenSize features of the hidden state
     */
    public RNNCell(long inputSize, long hiddenSize) {
        this(new Options(inputSize, hiddenSize));
    }

    /**
     * The cell with options.
     *
     * @param options what it does
     */
    public RNNCell(Options options) {
        super(1, options);
    }

    /** The new state, from zeros. */
    @Override
    public Tensor forward(Tensor input) {
        return forward(input, null);
    }

    /**
     * The new state.
     *
     * @param input {@code (batch, feature)} or {@code (feature)}
     * @param hidden the state before; null for zeros
     * @return the state after
     */
    public Tensor forward(Tensor input, @Nullable Tensor hidden) {
        checkOpen();
        check(input, "input");
        Tensor before = hidden == null ? zeros(input) : hidden;
        check(before, "hidden");
        Tensor after = options.nonlinearity == Nonlinearity.RELU
            ? Torch.rnn_relu_cell(batched(input), batched(before), weightIh, weightHh, biasIh, biasHh)
            : Torch.rnn_tanh_cell(batched(input), batched(before), weightIh, weightHh, biasIh, biasHh);
        return input.dim() == 1 ? after.squeeze(0) : after;
    }
}
