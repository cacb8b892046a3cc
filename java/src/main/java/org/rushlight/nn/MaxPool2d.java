package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies 2D max pooling over an input of shape {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new MaxPool2d(2).forward(Torch.ones(2, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4, 4]
 * }</pre>
 */
public final class MaxPool2d extends MaxPoolNd {
    /** Options of {@link MaxPool2d}. Immutable: each {@code with} method returns a changed copy. */
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
    public MaxPool2d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
     * Returns the maxima and their indices.
     *
     * @param input the input
     * @return both results
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.maxPool2dWithIndices(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }
}
