package org.rushlight.nn;

/** Normalises each channel of volumes: {@code (N, C, D, H, W)}. */
public final class BatchNorm3d extends BatchNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public BatchNorm3d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public BatchNorm3d(Options options) {
        super(5, 5, options);
    }
}
