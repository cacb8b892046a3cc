package org.rushlight.nn;

/** Normalises each channel of sequences: {@code (N, C, L)}. */
public final class BatchNorm1d extends BatchNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public BatchNorm1d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public BatchNorm1d(Options options) {
        super(2, 3, options);
    }
}
