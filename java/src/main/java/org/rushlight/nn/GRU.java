package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Results;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Gated recurrent units: {@code r, z = gates; n = tanh(W x + r (U h)); h = (1 - z) n + z h}.
 *
 * <pre>{@code
 * try (GRU layer = new GRU(new GRU.Options(4, 8).withBatchFirst(true))) {
 *     GRU.Output output = layer.forwardWithState(Torch.ones(2, 5, 4), null);
 *     System.out.println(Arrays.toString(output.output().shape()) + " " + Arrays.toString(output.hidden().shape())); // [2, 5, 8] [1, 2, 8]
 * }
 * }</pre>
 */
public final class GRU extends RecurrentLayer {
    /**
     * What the layer returns.
     *
     * @param output the outputs of all steps
     * @param hidden the last hidden state of each layer and direction
     */
    public record Output(Tensor output, Tensor hidden) {}

    /**
     * What the layer returns for packed sequences.
     *
     * @param output the outputs of all steps, packed
     * @param hidden the last hidden state of each layer and direction
     */
    public record PackedOutput(PackedSequence output, Tensor hidden) {}

    /**
     * The layer with the defaults.
     *
     * @param inputSize features of a step of the input
     * @param hiddenSize features of the hidden state
     */
    public GRU(long inputSize, long hiddenSize) {
        this(new Options(inputSize, hiddenSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public GRU(Options options) {
        super(3, options);
    }

    /** The outputs of all steps, from a state of zeros. */
    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return forwardWithState(input, null).output();
    }

    /**
     * The outputs of all steps, and the last state.
     *
     * @param input {@code (step, batch, feature)}, or {@code (step, feature)} of a single sequence
     * @param hidden the state at the start, {@code (layers * directions, batch, feature)}; null for zeros
     * @return outputs and state
     */
    public Output forwardWithState(Tensor input, @Nullable Tensor hidden) {
        checkOpen();
        if (isUnbatched(input)) {
            Output one = forwardWithState(input.unsqueeze(batchDim()), hidden == null ? null : hidden.unsqueeze(1));
            return new Output(one.output().squeeze(batchDim()), one.hidden().squeeze(1));
        }
        checkInput(input, 3);
        Tensor start = state(hidden, input, input.size(batchDim()), options.hiddenSize, "hidden");
        Results.Result0Result1 results = Torch.gru(input, start, weights(), options.bias, options.numLayers, options.dropout, isTraining(),
            options.bidirectional, options.batchFirst);
        return new Output(results.result0(), results.result1());
    }

    /**
     * The outputs of all steps of packed sequences, and the last state of each.
     *
     * @param input the sequences
     * @param hidden the state at the start, in the order in which the sequences were packed; null for zeros
     * @return outputs and state
     */
    public PackedOutput forwardPacked(PackedSequence input, @Nullable Tensor hidden) {
        checkOpen();
        checkInput(input.data(), 2);
        Tensor start = state(input.sorted(hidden), input.data(), input.batch(), options.hiddenSize, "hidden");
        Results.Result0Result1 results = Torch.gru(input.data(), input.batchSizes(), start, weights(), options.bias, options.numLayers, options.dropout, isTraining(),
            options.bidirectional);
        return new PackedOutput(input.with(results.result0()), input.unsorted(results.result1()));
    }
}
