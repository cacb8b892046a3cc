package org.rushlight.nn;

/** Normalises each channel of each sample of images: {@code (N, C, H, W)}. */
public final class InstanceNorm2d extends InstanceNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public InstanceNorm2d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public InstanceNorm2d(Options options) {
        super(3, 4, options);
    }
}
