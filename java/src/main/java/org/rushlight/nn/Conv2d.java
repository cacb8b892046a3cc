package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies a 2D convolution over an input of shape {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * try (Conv2d layer = new Conv2d(new Conv2d.Options(3, 6, 3).withPadding(1))) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(2, 3, 8, 8)).shape())); // [2, 6, 8, 8]
 * }
 * }</pre>
 */
public final class Conv2d extends ConvNd {
    /** Options of {@link Conv2d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ConvOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param inChannels number of input channels
         * @param outChannels number of output channels
         * @param kernelSize size of the kernel: one number per spatial dimension, or one for all
         */
        public Options(long inChannels, long outChannels, long... kernelSize) {
            super(inChannels, outChannels, kernelSize);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param inChannels number of input channels
     * @param outChannels number of output channels
     * @param kernelSize size of the kernel: one number per spatial dimension, or one for all
     */
    public Conv2d(long inChannels, long outChannels, long... kernelSize) {
        this(new Options(inChannels, outChannels, kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Conv2d(Options options) {
        super(2, false, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return convolve(input);
    }
}
