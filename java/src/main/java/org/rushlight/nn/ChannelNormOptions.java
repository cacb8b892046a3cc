package org.rushlight.nn;

/**
 * Options of batch and instance normalization.
 *
 * @param <O> the type of the options itself
 */
abstract class ChannelNormOptions<O extends ChannelNormOptions<O>> extends ModuleOptions<O> {
    final long numFeatures;
    double eps = 1e-5;
    /** NaN selects the mean over all batches. */
    double momentum = 0.1;
    boolean affine;
    boolean trackRunningStats;

    ChannelNormOptions(long numFeatures, boolean affine, boolean trackRunningStats) {
        this.numFeatures = numFeatures;
        this.affine = affine;
        this.trackRunningStats = trackRunningStats;
    }

    /**
     * Sets eps: term added to the variance for numerical stability (default 1e-5).
     *
     * @param value term added to the variance for numerical stability (default 1e-5)
     * @return the changed options
     */
    public O withEps(double value) {
        return with(options -> options.eps = value);
    }

    /**
     * Sets affine: whether to have a learnable weight and bias.
     *
     * @param value whether to have a learnable weight and bias
     * @return the changed options
     */
    public O withAffine(boolean value) {
        return with(options -> options.affine = value);
    }

    /**
     * Sets trackRunningStats: whether to track running statistics and use them in evaluation mode.
     *
     * @param value whether to track running statistics and use them in evaluation mode
     * @return the changed options
     */
    public O withTrackRunningStats(boolean value) {
        return with(options -> options.trackRunningStats = value);
    }
}
