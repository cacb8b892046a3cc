package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies 3D max pooling over an input of shape {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new MaxPool3d(2).forward(Torch.ones(2, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4, 4, 4]
 * }</pre>
 */
public final class MaxPool3d extends MaxPoolNd {
    /** Options of {@link MaxPool3d}. Immutable: each {@code with} method returns a changed copy. */
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
    public MaxPool3d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
     * Returns the maxima and their indices.
     *
     * @param input the input
     * @return both results
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.maxPool3dWithIndices(input, kernelSize, stride, padding, dilation, options.ceilMode);
    }
}
