package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * The gradient of a convolution of volumes: {@code (N, C, D, H, W)}, as a layer.
 *
 * <pre>{@code
 * try (ConvTranspose3d layer = new ConvTranspose3d(3, 6, 2)) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(2, 3, 8, 8, 8)).shape())); // [2, 6, 9, 9, 9]
 * }
 * }</pre>
 */
public final class ConvTranspose3d extends ConvNd {
    /**
     * The layer with the defaults.
     *
     * @param inChannels channels of the input
     * @param outChannels channels of the output
     * @param kernelSize size of a window: one number for each dimension, or one for all
     */
    public ConvTranspose3d(long inChannels, long outChannels, long... kernelSize) {
        this(new Options(inChannels, outChannels, kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public ConvTranspose3d(Options options) {
        super(3, true, options);
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
     * The output of a certain size: several sizes convolve to that of the input.
     *
     * @param input the input
     * @param outputSize size of the output, with or without batch and channels
     * @return the output
     */
    public Tensor forward(Tensor input, long... outputSize) {
        checkOpen();
        return transpose(input, outputSize.length == 0 ? null : outputSize);
    }
}
