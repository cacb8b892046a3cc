package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The largest number of each window of images: {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new MaxPool2d(2).forward(Torch.ones(2, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4, 4]
 * }</pre>
 */
public final class MaxPool2d extends MaxPoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxPool2d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxPool2d(Options options) {
        super(2, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.maxPool2d(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }

    /**
     * The pooled numbers and their places.
     *
     * @param input the input
     * @return both
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.maxPool2dWithIndices(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }
}
