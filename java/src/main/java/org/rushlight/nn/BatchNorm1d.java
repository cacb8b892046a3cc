package org.rushlight.nn;

/**
 * Normalises each channel of sequences: {@code (N, C, L)}.
 *
 * <pre>{@code
 * try (BatchNorm1d layer = new BatchNorm1d(3)) {
 *     Tensor y = layer.forward(Torch.rand(4, 3, 8));
 *     System.out.println(Math.abs(y.mean().itemDouble()) < 1e-5); // true
 * }
 * }</pre>
 */
public final class BatchNorm1d extends BatchNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public BatchNorm1d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public BatchNorm1d(Options options) {
        super(2, 3, options);
    }
}
