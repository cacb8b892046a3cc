package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The largest number of each window of sequences: {@code (N, C, L)}.
 *
 * <pre>{@code
 * Tensor y = new MaxPool1d(2).forward(Torch.ones(2, 3, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4]
 * }</pre>
 */
public final class MaxPool1d extends MaxPoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxPool1d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxPool1d(Options options) {
        super(1, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.maxPool1d(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }

    /**
     * The pooled numbers and their places.
     *
     * @param input the input
     * @return both
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.maxPool1dWithIndices(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }
}
