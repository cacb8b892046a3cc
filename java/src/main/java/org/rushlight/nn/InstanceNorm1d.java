package org.rushlight.nn;

/**
 * Normalises each channel of each sample of sequences: {@code (N, C, L)}.
 *
 * <pre>{@code
 * Tensor y = new InstanceNorm1d(3).forward(Torch.rand(4, 3, 8));
 * System.out.println(Math.abs(y.get(0, 0).mean().itemDouble()) < 1e-5); // true
 * }</pre>
 */
public final class InstanceNorm1d extends InstanceNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public InstanceNorm1d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public InstanceNorm1d(Options options) {
        super(2, 3, options);
    }
}
