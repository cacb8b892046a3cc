package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies 3D power-average pooling over an input of shape {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new LPPool3d(2, 2).forward(Torch.ones(2, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4, 4, 4]
 * }</pre>
 */
public final class LPPool3d extends LPPoolNd {
    /** Options of {@link LPPool3d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends LPPoolOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param normType degree of the norm
         * @param kernelSize size of the window
         */
        public Options(double normType, long... kernelSize) {
            super(normType, kernelSize);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param normType degree of the norm
     * @param kernelSize size of the window
     */
    public LPPool3d(double normType, long... kernelSize) {
        this(new Options(normType, kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public LPPool3d(Options options) {
        super(3, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.lpPool3d(input, options.normType, kernelSize, stride, options.ceilMode);
    }
}
