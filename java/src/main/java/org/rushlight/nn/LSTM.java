package org.rushlight.nn;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rushlight.Results;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Long short-term memory: {@code i, f, g, o = gates of W x + U h; c = f c + i g; h = o tanh(c)}.
 *
 * <pre>{@code
 * try (LSTM layer = new LSTM(new LSTM.Options(4, 8).withBatchFirst(true))) {
 *     LSTM.Output output = layer.forwardWithState(Torch.ones(2, 5, 4), null);
 *     System.out.println(Arrays.toString(output.output().shape()) + " " + Arrays.toString(output.state().cell().shape())); // [2, 5, 8] [1, 2, 8]
 * }
 * }</pre>
 */
public final class LSTM extends RecurrentLayer {
    /** Options of {@link LSTM}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends RecurrentOptions<Options> {
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
     * A state of the layer.
     *
     * @param hidden hidden state of each layer and direction
     * @param cell cell state of each layer and direction
     */
    public record State(Tensor hidden, Tensor cell) {}

    /**
     * Results of the layer.
     *
     * @param output outputs of all time steps
     * @param state final state
     */
    public record Output(Tensor output, State state) {}

    /**
     * Results for packed sequences.
     *
     * @param output outputs of all time steps, packed
     * @param state final state
     */
    public record PackedOutput(PackedSequence output, State state) {}

    /**
     * Creates the layer with default options.
     *
     * @param inputSize number of input features
     * @param hiddenSize number of features of the hidden state
     */
    public LSTM(long inputSize, long hiddenSize) {
        this(new Options(inputSize, hiddenSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public LSTM(Options options) {
        super(4, options);
    }

    /** Computes the outputs of all time steps, starting from a zero state. */
    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return forwardWithState(input, null).output();
    }

    /**
     * Computes the outputs of all time steps and the final state.
     *
     * @param input tensor of shape {@code (L, N, input_size)}, or {@code (L, input_size)} for a single sequence
     * @param state initial state; null for zeros
     * @return outputs and state
     */
    public Output forwardWithState(Tensor input, @Nullable State state) {
        checkOpen();
        if (isUnbatched(input)) {
            State more = state == null ? null : new State(state.hidden().unsqueeze(1), state.cell().unsqueeze(1));
            Output one = forwardWithState(input.unsqueeze(batchDim()), more);
            State last = new State(one.state().hidden().squeeze(1), one.state().cell().squeeze(1));
            return new Output(one.output().squeeze(batchDim()), last);
        }
        checkInput(input, 3);
        Tensor[] start = start(state, input, input.size(batchDim()));
        Results.Result0Result1Result2 results = Torch.lstm(input, start, weights(), options.bias, options.numLayers, options.dropout,
            isTraining(), options.bidirectional, options.batchFirst);
        return new Output(results.result0(), new State(results.result1(), results.result2()));
    }

    /**
     * Computes the outputs of all time steps of packed sequences, and their final states.
     *
     * @param input the packed sequences
     * @param state initial state, in the order in which the sequences were packed; null for zeros
     * @return outputs and state
     */
    public PackedOutput forwardPacked(PackedSequence input, @Nullable State state) {
        checkOpen();
        checkInput(input.data(), 2);
        State sorted = state == null
            ? null : new State(Objects.requireNonNull(input.sorted(state.hidden())), Objects.requireNonNull(input.sorted(state.cell())));
        Tensor[] start = start(sorted, input.data(), input.batch());
        Results.Result0Result1Result2 results = Torch.lstm(input.data(), input.batchSizes(), start, weights(), options.bias,
            options.numLayers, options.dropout, isTraining(), options.bidirectional);
        return new PackedOutput(
            input.with(results.result0()), new State(input.unsorted(results.result1()), input.unsorted(results.result2())));
    }

    private Tensor[] start(@Nullable State state, Tensor input, long batch) {
        Tensor hidden = state == null ? null : state.hidden();
        Tensor cell = state == null ? null : state.cell();
        return new Tensor[] {
            state(hidden, input, batch, stateSize(), "hidden[0]"), state(cell, input, batch, options.hiddenSize, "hidden[1]"),
        };
    }
}
