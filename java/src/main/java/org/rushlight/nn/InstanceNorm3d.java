package org.rushlight.nn;

/** Normalises each channel of each sample of volumes: {@code (N, C, D, H, W)}. */
public final class InstanceNorm3d extends InstanceNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public InstanceNorm3d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public InstanceNorm3d(Options options) {
        super(4, 5, options);
    }
}
