package org.rushlight.nn;

/**
 * Options of a normalization layer. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class InstanceNormOptions<O extends InstanceNormOptions<O>> extends ChannelNormOptions<O> {
    InstanceNormOptions(long numFeatures) {
        super(numFeatures, false, false);
    }

    /**
     * Sets momentum: weight of the batch in the update of the running statistics (default 0.1).
     *
     * @param value weight of the batch in the update of the running statistics (default 0.1)
     * @return the changed options
     */
    public O withMomentum(double value) {
        return with(options -> options.momentum = value);
    }
}
