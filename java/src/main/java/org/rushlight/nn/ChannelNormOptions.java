package org.rushlight.nn;

/**
 * What batch and instance normalisations do.
 *
 * @param <O> the options themselves
 */
abstract class ChannelNormOptions<O extends ChannelNormOptions<O>> extends ModuleOptions<O> {
    final long numFeatures;
    double eps = 1e-5;
    /** NaN: the mean over all batches. */
    double momentum = 0.1;
    boolean affine;
    boolean trackRunningStats;

    ChannelNormOptions(long numFeatures, boolean affine, boolean trackRunningStats) {
        this.numFeatures = numFeatures;
        this.affine = affine;
        this.trackRunningStats = trackRunningStats;
    }

    /**
     * Sets eps: added to the variance.
     *
     * @param value added to the variance
     * @return the changed options
     */
    public O withEps(double value) {
        return with(options -> options.eps = value);
    }

    /**
     * Sets affine: learn a weight and a bias.
     *
     * @param value learn a weight and a bias
     * @return the changed options
     */
    public O withAffine(boolean value) {
        return with(options -> options.affine = value);
    }

    /**
     * Sets trackRunningStats: keep running statistics, and use them in evaluation.
     *
     * @param value keep running statistics, and use them in evaluation
     * @return the changed options
     */
    public O withTrackRunningStats(boolean value) {
        return with(options -> options.trackRunningStats = value);
    }
}
