package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies 2D average pooling over an input of shape {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new AvgPool2d(2).forward(Torch.ones(2, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4, 4]
 * }</pre>
 */
public final class AvgPool2d extends AvgPoolNd {
    /** Options of {@link AvgPool2d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends AvgPoolOptions<Options> {
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
    public AvgPool2d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
