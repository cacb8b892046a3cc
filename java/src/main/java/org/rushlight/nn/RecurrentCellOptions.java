package org.rushlight.nn;

/**
 * Options of a recurrent cell. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class RecurrentCellOptions<O extends RecurrentCellOptions<O>> extends ModuleOptions<O> {
    final long inputSize;
    final long hiddenSize;
    boolean bias = true;
    Nonlinearity nonlinearity = Nonlinearity.TANH;

    RecurrentCellOptions(long inputSize, long hiddenSize) {
        this.inputSize = inputSize;
        this.hiddenSize = hiddenSize;
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
     * Sets nonlinearity: nonlinearity of a plain cell (default tanh).
     *
     * @param value nonlinearity of a plain cell (default tanh)
     * @return the changed options
     */
    public O withNonlinearity(Nonlinearity value) {
        return with(options -> options.nonlinearity = value);
    }
}
