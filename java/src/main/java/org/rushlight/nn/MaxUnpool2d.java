package org.rushlight.nn;

/** Puts numbers of images: {@code (N, C, H, W)} where max pooling found them, and zeros elsewhere. */
public final class MaxUnpool2d extends MaxUnpoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxUnpool2d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxUnpool2d(Options options) {
        super(2, options);
    }
}
