package org.rushlight.nn;

/** Normalises each channel of each sample of sequences: {@code (N, C, L)}. */
public final class InstanceNorm1d extends InstanceNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public InstanceNorm1d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public InstanceNorm1d(Options options) {
        super(2, 3, options);
    }
}
