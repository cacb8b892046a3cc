package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Computes one time step of a single-layer {@link GRU}.
 *
 * <pre>{@code
 * try (GRUCell cell = new GRUCell(4, 8)) {
 *     Tensor hidden = cell.forward(Torch.ones(2, 4), null);
 *     hidden = cell.forward(Torch.ones(2, 4), hidden);
 *     System.out.println(Arrays.toString(hidden.shape())); // [2, 8]
 * }
 * }</pre>
 */
public final class GRUCell extends RecurrentCell {
    /** Options of {@link GRUCell}. Immutable: each {@code with} method returns a changed copy. */
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
    public GRUCell(long inputSize, long hiddenSize) {
        this(new Options(inputSize, hiddenSize));
    }

    /**
     * Creates the cell with options.
     *
     * @param options the options
     */
    public GRUCell(Options options) {
        super(3, options);
    }

    /** Computes the new state from a zero state. */
    @Override
    public Tensor forward(Tensor input) {
        return forward(input, null);
    }

    /**
     * Computes the new state.
     *
     * @param input tensor of shape {@code (N, in_features)} or {@code (in_features)}
     * @param hidden previous state; null for zeros
     * @return the new state
     */
    public Tensor forward(Tensor input, @Nullable Tensor hidden) {
        checkOpen();
        check(input, "input");
        Tensor before = hidden == null ? zeros(input) : hidden;
        check(before, "hidden");
        Tensor after = Torch.gruCell(batched(input), batched(before), weightIh, weightHh, biasIh, biasHh);
        return input.dim() == 1 ? after.squeeze(0) : after;
    }
}
