package org.rushlight.nn;

/**
 * Normalises each channel of each sample of images: {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new InstanceNorm2d(3).forward(Torch.rand(4, 3, 8, 8));
 * System.out.println(Math.abs(y.get(0, 0).mean().itemDouble()) < 1e-5); // true
 * }</pre>
 */
public final class InstanceNorm2d extends InstanceNormNd {
    /**
     * The layer with the defaults.
     *
     * @param numFeatures channels
     */
    public InstanceNorm2d(long numFeatures) {
        this(new Options(numFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public InstanceNorm2d(Options options) {
        super(3, 4, options);
    }
}
