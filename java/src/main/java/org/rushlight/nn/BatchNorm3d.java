package org.rushlight.nn;

/**
 * Applies batch normalization over an input of shape {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * try (BatchNorm3d layer = new BatchNorm3d(3)) {
 *     Tensor y = layer.forward(Torch.rand(4, 3, 8, 8, 8));
 *     System.out.println(Math.abs(y.mean().itemDouble()) < 1e-5); // true
 * }
 * }</pre>
 */
public final class BatchNorm3d extends BatchNormNd {
    /** Options of {@link BatchNorm3d}. Immutable: each {@code with} method returns a changed copy. */
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
    public BatchNorm3d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public BatchNorm3d(Options options) {
        super(5, 5, options);
    }
}
