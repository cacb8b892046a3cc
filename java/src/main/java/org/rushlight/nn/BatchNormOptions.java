package org.rushlight.nn;

/**
 * Options of a normalization layer. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class BatchNormOptions<O extends BatchNormOptions<O>> extends ChannelNormOptions<O> {
    BatchNormOptions(long numFeatures) {
        super(numFeatures, true, true);
    }

    /**
     * Sets momentum: weight of the batch in the update of the running statistics (default 0.1); NaN for a
     * cumulative average.
     *
     * @param value weight of the batch in the update of the running statistics (default 0.1); NaN for a cumulative
     *     average
     * @return the changed options
     */
    public O withMomentum(double value) {
        return with(options -> options.momentum = value);
    }
}
