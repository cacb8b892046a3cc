package org.rushlight.nn;

/**
 * Normalises each channel of volumes: {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * try (BatchNorm3d layer = new BatchNorm3d(3)) {
 *     Tensor y = layer.forward(Torch.rand(4, 3, 8, 8, 8));
 *     System.out.println(Math.abs(y.mean().itemDouble()) < 1e-5); // true
 * }
 * }</pre>
 */
public final class BatchNorm3d extends BatchNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public BatchNorm3d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public BatchNorm3d(Options options) {
        super(5, 5, options);
    }
}
