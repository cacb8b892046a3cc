package org.rushlight.nn;

/**
 * Options of a recurrent layer. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class RecurrentOptions<O extends RecurrentOptions<O>> extends ModuleOptions<O> {
    final long inputSize;
    final long hiddenSize;
    long numLayers = 1;
    boolean bias = true;
    boolean batchFirst = false;
    double dropout = 0;
    boolean bidirectional = false;
    long projSize = 0;
    Nonlinearity nonlinearity = Nonlinearity.TANH;

    RecurrentOptions(long inputSize, long hiddenSize) {
        this.inputSize = inputSize;
        this.hiddenSize = hiddenSize;
    }

    /**
     * Sets numLayers: number of stacked layers (default 1).
     *
     * @param value number of stacked layers (default 1)
     * @return the changed options
     */
    public O withNumLayers(long value) {
        return with(options -> options.numLayers = value);
    }

    /**
     * Sets bias: whether to add biases (default true).
     *
     * @param value whether to add biases (default true)
     * @return the changed options
     */
    public O withBias(boolean value) {
        return with(options -> options.bias = value);
    }

    /**
     * Sets batchFirst: whether inputs have shape {@code (N, L, E)} instead of {@code (L, N, E)} (default false).
     *
     * @param value whether inputs have shape {@code (N, L, E)} instead of {@code (L, N, E)} (default false)
     * @return the changed options
     */
    public O withBatchFirst(boolean value) {
        return with(options -> options.batchFirst = value);
    }

    /**
     * Sets dropout: dropout probability of the outputs of each layer except the last (default 0).
     *
     * @param value dropout probability of the outputs of each layer except the last (default 0)
     * @return the changed options
     */
    public O withDropout(double value) {
        return with(options -> options.dropout = value);
    }

    /**
     * Sets bidirectional: whether to add a pass in reverse direction (default false).
     *
     * @param value whether to add a pass in reverse direction (default false)
     * @return the changed options
     */
    public O withBidirectional(boolean value) {
        return with(options -> options.bidirectional = value);
    }

    /**
     * Sets projSize: size of the projection of an LSTM's hidden state; 0 for none (default).
     *
     * @param value size of the projection of an LSTM's hidden state; 0 for none (default)
     * @return the changed options
     */
    public O withProjSize(long value) {
        return with(options -> options.projSize = value);
    }

    /**
     * Sets nonlinearity: nonlinearity of a plain recurrent layer (default tanh).
     *
     * @param value nonlinearity of a plain recurrent layer (default tanh)
     * @return the changed options
     */
    public O withNonlinearity(Nonlinearity value) {
        return with(options -> options.nonlinearity = value);
    }
}
