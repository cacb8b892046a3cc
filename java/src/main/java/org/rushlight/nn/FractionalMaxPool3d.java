package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies 3D fractional max pooling over an input of shape {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new FractionalMaxPool3d(new FractionalMaxPool3d.Options(2).withOutputSize(5, 5, 5)).forward(Torch.rand(2, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 5, 5, 5]
 * }</pre>
 */
public final class FractionalMaxPool3d extends FractionalMaxPoolNd {
    /** Options of {@link FractionalMaxPool3d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends FractionalMaxPoolOptions<Options> {
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
    public FractionalMaxPool3d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public FractionalMaxPool3d(Options options) {
        super(3, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return forwardWithIndices(input).output();
    }
}
