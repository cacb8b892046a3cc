package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Convolution of sequences: {@code (N, C, L)}.
 *
 * <pre>{@code
 * try (Conv1d layer = new Conv1d(new Conv1d.Options(3, 6, 3).withPadding(1))) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(2, 3, 8)).shape())); // [2, 6, 8]
 * }
 * }</pre>
 */
public final class Conv1d extends ConvNd {
    /**
     * The layer with the defaults.
     *
     * @param inChannels channels of the input
     * @param outChannels channels of the output
     * @param kernelSize size of a window: one number for each dimension, or one for all
     */
    public Conv1d(long inChannels, long outChannels, long... kernelSize) {
        this(new Options(inChannels, outChannels, kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public Conv1d(Options options) {
        super(1, false, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return convolve(input);
    }
}
