package org.rushlight.nn;

import org.rushlight.Tensor;

/** Convolution of volumes: {@code (N, C, D, H, W)}. */
public final class Conv3d extends ConvNd {
    /**
     * The layer with the defaults.
     *
     * @param inChannels channels of the input
     * @param outChannels channels of the output
     * @param kernelSize size of a window: one number for each dimension, or one for all
     */
    public Conv3d(long inChannels, long outChannels, long... kernelSize) {
        this(new Options(inChannels, outChannels, kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public Conv3d(Options options) {
        super(3, false, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return convolve(input);
    }
}
