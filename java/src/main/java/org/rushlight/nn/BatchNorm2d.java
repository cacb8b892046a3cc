package org.rushlight.nn;

/**
 * Normalises each channel of images: {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * try (BatchNorm2d layer = new BatchNorm2d(3)) {
 *     Tensor y = layer.forward(Torch.rand(4, 3, 8, 8));
 *     System.out.println(Math.abs(y.mean().itemDouble()) < 1e-5); // true
 * }
 * }</pre>
 */
public final class BatchNorm2d extends BatchNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public BatchNorm2d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public BatchNorm2d(Options options) {
        super(4, 4, options);
    }
}
