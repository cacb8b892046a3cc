package org.rushlight.nn;

/**
 * Applies batch normalization over an input of shape {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * try (BatchNorm2d layer = new BatchNorm2d(3)) {
 *     Tensor y = layer.forward(Torch.rand(4, 3, 8, 8));
 *     System.out.println(Math.abs(y.mean().itemDouble()) < 1e-5); // true
 * }
 * }</pre>
 */
public final class BatchNorm2d extends BatchNormNd {
    /** Options of {@link BatchNorm2d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends BatchNormOptions<Options> {
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
    public BatchNorm2d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public BatchNorm2d(Options options) {
        super(4, 4, options);
    }
}
