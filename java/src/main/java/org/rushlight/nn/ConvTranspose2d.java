package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Applies a 2D transposed convolution over an input of shape {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * try (ConvTranspose2d layer = new ConvTranspose2d(3, 6, 2)) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(2, 3, 8, 8)).shape())); // [2, 6, 9, 9]
 * }
 * }</pre>
 */
public final class ConvTranspose2d extends ConvNd {
    /** Options of {@link ConvTranspose2d}. Immutable: each {@code with} method returns a changed copy. */
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
    public ConvTranspose2d(long inChannels, long outChannels, long... kernelSize) {
        this(new Options(inChannels, outChannels, kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public ConvTranspose2d(Options options) {
        super(2, true, options);
        if (options.paddingWord != null) {
            throw new TensorValueException("ConvTranspose padding cannot be a string");
        }
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return transpose(input, null);
    }

    /**
     * Computes an output of the given size, for strides where several output sizes are possible.
     *
     * @param input the input
     * @param outputSize size of the output, with or without batch and channel dimensions
     * @return the output
     */
    public Tensor forward(Tensor input, long... outputSize) {
        checkOpen();
        return transpose(input, outputSize.length == 0 ? null : outputSize);
    }
}
