package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Convolution of volumes: {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * try (Conv3d layer = new Conv3d(new Conv3d.Options(3, 6, 3).withPadding(1))) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(2, 3, 8, 8, 8)).shape())); // [2, 6, 8, 8, 8]
 * }
 * }</pre>
 */
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
