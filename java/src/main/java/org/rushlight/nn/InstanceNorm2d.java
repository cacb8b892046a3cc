package org.rushlight.nn;

/**
 * Applies instance normalization over an input of shape {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new InstanceNorm2d(3).forward(Torch.rand(4, 3, 8, 8));
 * System.out.println(Math.abs(y.get(0, 0).mean().itemDouble()) < 1e-5); // true
 * }</pre>
 */
public final class InstanceNorm2d extends InstanceNormNd {
    /** Options of {@link InstanceNorm2d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends InstanceNormOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param numFeatures number of channels {@code C}
         */
        public Options(long numFeatures) {
            super(numFeatures);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param numFeatures number of channels {@code C}
     */
    public InstanceNorm2d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public InstanceNorm2d(Options options) {
        super(3, 4, options);
    }
}
