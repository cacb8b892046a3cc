package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies 1D max pooling over an input of shape {@code (N, C, L)}.
 *
 * <pre>{@code
 * Tensor y = new MaxPool1d(2).forward(Torch.ones(2, 3, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4]
 * }</pre>
 */
public final class MaxPool1d extends MaxPoolNd {
    /** Options of {@link MaxPool1d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends MaxPoolOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param kernelSize size of the window
         */
        public Options(long... kernelSize) {
            super(kernelSize);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param kernelSize size of the window
     */
    public MaxPool1d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
     * Returns the maxima and their indices.
     *
     * @param input the input
     * @return both results
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.maxPool1dWithIndices(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }
}
