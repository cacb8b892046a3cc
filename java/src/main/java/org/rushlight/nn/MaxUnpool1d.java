package org.rushlight.nn;

/** Puts numbers of sequences: {@code (N, C, L)} where max pooling found them, and zeros elsewhere. */
public final class MaxUnpool1d extends MaxUnpoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxUnpool1d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxUnpool1d(Options options) {
        super(1, options);
    }
}
