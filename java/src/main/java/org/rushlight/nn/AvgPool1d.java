package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The mean of each window of sequences: {@code (N, C, L)}.
 *
 * <pre>{@code
 * Tensor y = new AvgPool1d(2).forward(Torch.ones(2, 3, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4]
 * }</pre>
 */
public final class AvgPool1d extends AvgPoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public AvgPool1d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public AvgPool1d(Options options) {
        super(1, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.avgPool1d(input, kernelSize, stride, padding, options.ceilMode, options.countIncludePad);
    }
}
