package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Results;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Computes one time step of a single-layer {@link LSTM}.
 *
 * <pre>{@code
 * try (LSTMCell cell = new LSTMCell(4, 8)) {
 *     LSTM.State state = cell.forward(Torch.ones(2, 4), null);
 *     state = cell.forward(Torch.ones(2, 4), state);
 *     System.out.println(Arrays.toString(state.hidden().shape())); // [2, 8]
 * }
 * }</pre>
 */
public final class LSTMCell extends RecurrentCell {
    /** Options of {@link LSTMCell}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends RecurrentCellOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param inputSize number of input features
         * @param hiddenSize number of features of the hidden state
         */
        public Options(long inputSize, long hiddenSize) {
            super(inputSize, hiddenSize);
        }
    }

    /**
     * Creates the cell with default options.
     *
     * @param inputSize number of input features
     * @param hiddenSize number of features of the hidden state
     */
    public LSTMCell(long inputSize, long hiddenSize) {
        this(new Options(inputSize, hiddenSize));
    }

    /**
     * Creates the cell with options.
     *
     * @param options the options
     */
    public LSTMCell(Options options) {
        super(4, options);
    }

    /** Computes the new hidden state from a zero state. */
    @Override
    public Tensor forward(Tensor input) {
        return forward(input, null).hidden();
    }

    /**
     * Computes the new state.
     *
     * @param input tensor of shape {@code (N, in_features)} or {@code (in_features)}
     * @param state previous state; null for zeros
     * @return the new state
     */
    public LSTM.State forward(Tensor input, LSTM.@Nullable State state) {
        checkOpen();
        check(input, "input");
        Tensor hidden = state == null ? zeros(input) : state.hidden();
        Tensor cell = state == null ? hidden : state.cell();
        check(hidden, "hx[0]");
        check(cell, "hx[1]");
        Results.Result0Result1 after = Torch.lstmCell(
            batched(input), new Tensor[] {batched(hidden), batched(cell)}, weightIh, weightHh, biasIh, biasHh);
        return input.dim() == 1
            ? new LSTM.State(after.result0().squeeze(0), after.result1().squeeze(0))
            : new LSTM.State(after.result0(), after.result1());
    }
}
