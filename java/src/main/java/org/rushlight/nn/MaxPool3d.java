package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The largest number of each window of volumes: {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new MaxPool3d(2).forward(Torch.ones(2, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4, 4, 4]
 * }</pre>
 */
public final class MaxPool3d extends MaxPoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxPool3d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxPool3d(Options options) {
        super(3, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.maxPool3d(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }

    /**
     * The pooled numbers and their places.
     *
     * @param input the input
     * @return both
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.maxPool3dWithIndices(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }
}
