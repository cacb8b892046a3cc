package org.rushlight.nn;

/**
 * Normalises each channel of each sample of volumes: {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new InstanceNorm3d(3).forward(Torch.rand(4, 3, 8, 8, 8));
 * System.out.println(Math.abs(y.get(0, 0).mean().itemDouble()) < 1e-5); // true
 * }</pre>
 */
public final class InstanceNorm3d extends InstanceNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public InstanceNorm3d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public InstanceNorm3d(Options options) {
        super(4, 5, options);
    }
}
