package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The mean of each window of images: {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new AvgPool2d(2).forward(Torch.ones(2, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4, 4]
 * }</pre>
 */
public final class AvgPool2d extends AvgPoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public AvgPool2d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public AvgPool2d(Options options) {
        super(2, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.avgPool2d(input, kernelSize, stride, padding, options.ceilMode, options.countIncludePad, options.divisorOverride);
    }
}
