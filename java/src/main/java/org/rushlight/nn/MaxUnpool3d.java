package org.rushlight.nn;

/** Puts numbers of volumes: {@code (N, C, D, H, W)} where max pooling found them, and zeros elsewhere. */
public final class MaxUnpool3d extends MaxUnpoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxUnpool3d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxUnpool3d(Options options) {
        super(3, options);
    }
}
