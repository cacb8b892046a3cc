package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * One step of a {@link GRU} of one layer.
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
    /**
     * The cell with the defaults.
     *
     * @param inputSize features of a step of the input
     * @param hiddenSize features of the hidden state
     */
    public GRUCell(long inputSize, long hiddenSize) {
        this(new Options(inputSize, hiddenSize));
    }

    /**
     * The cell with options.
     *
     * @param options what it does
     */
    public GRUCell(Options options) {
        super(3, options);
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
        Tensor after = Torch.gru_cell(batched(input), batched(before), weightIh, weightHh, biasIh, biasHh);
        return input.dim() == 1 ? after.squeeze(0) : after;
    }
}
