package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Results;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * A plain recurrent layer: {@code h = tanh(W x + b + U h + c)}, or with ReLU instead of tanh.
 *
 * <pre>{@code
 * try (RNN layer = new RNN(new RNN.Options(4, 8).withBatchFirst(true))) {
 *     RNN.Output output = layer.forwardWithState(Torch.ones(2, 5, 4), null);
 *     System.out.println(Arrays.toString(output.output().shape()) + " " + Arrays.toString(output.hidden().shape())); // [2, 5, 8] [1, 2, 8]
 * }
 * }</pre>
 */
public final class RNN extends RecurrentLayer {
    /** Options of {@link RNN}. Immutable: each {@code with} method returns a changed copy. */
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
     * Results of the layer.
     *
     * @param output outputs of all time steps
     * @param hidden final hidden state of each layer and direction
     */
    public record Output(Tensor output, Tensor hidden) {}

    /**
     * Results for packed sequences.
     *
     * @param output outputs of all time steps, packed
     * @param hidden final hidden state of each layer and direction
     */
    public record PackedOutput(PackedSequence output, Tensor hidden) {}

    /**
     * Creates the layer with default options.
     *
     * @param inputSize number of input features
     * @param hiddenSize number of features of the hidden state
     */
    public RNN(long inputSize, long hiddenSize) {
        this(new Options(inputSize, hiddenSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public RNN(Options options) {
        super(1, options);
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
     * @param hidden initial state of shape {@code (num_layers * num_directions, N, hidden_size)}; null for zeros
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
        Results.Result0Result1 results = options.nonlinearity == Nonlinearity.RELU
            ? Torch.rnnRelu(input, start, weights(), options.bias, options.numLayers, options.dropout, isTraining(),
                options.bidirectional, options.batchFirst)
            : Torch.rnnTanh(input, start, weights(), options.bias, options.numLayers, options.dropout, isTraining(),
                options.bidirectional, options.batchFirst);
        return new Output(results.result0(), results.result1());
    }

    /**
     * Computes the outputs of all time steps of packed sequences, and their final states.
     *
     * @param input the packed sequences
     * @param hidden initial state, in the order in which the sequences were packed; null for zeros
     * @return outputs and state
     */
    public PackedOutput forwardPacked(PackedSequence input, @Nullable Tensor hidden) {
        checkOpen();
        checkInput(input.data(), 2);
        Tensor start = state(input.sorted(hidden), input.data(), input.batch(), options.hiddenSize, "hidden");
        Results.Result0Result1 results = options.nonlinearity == Nonlinearity.RELU
            ? Torch.rnnRelu(input.data(), input.batchSizes(), start, weights(), options.bias, options.numLayers, options.dropout, isTraining(),
                options.bidirectional)
            : Torch.rnnTanh(input.data(), input.batchSizes(), start, weights(), options.bias, options.numLayers, options.dropout, isTraining(),
                options.bidirectional);
        return new PackedOutput(input.with(results.result0()), input.unsorted(results.result1()));
    }
}
