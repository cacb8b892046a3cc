package org.rushlight.nn;

import org.rushlight.Tensor;

/** The largest number of windows at random places of images: {@code (N, C, H, W)}. */
public final class FractionalMaxPool2d extends FractionalMaxPoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public FractionalMaxPool2d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public FractionalMaxPool2d(Options options) {
        super(2, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return forwardWithIndices(input).output();
    }
}
