package org.rushlight.nn;

/**
 * Puts numbers of volumes: {@code (N, C, D, H, W)} where max pooling found them, and zeros elsewhere.
 *
 * <pre>{@code
 * Pooled pooled = new MaxPool3d(2).forwardWithIndices(Torch.rand(1, 3, 8, 8, 8));
 * Tensor y = new MaxUnpool3d(2).forward(pooled.output(), pooled.indices());
 * System.out.println(Arrays.toString(y.shape())); // [1, 3, 8, 8, 8]
 * }</pre>
 */
public final class MaxUnpool3d extends MaxUnpoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxUnpool3d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxUnpool3d(Options options) {
        super(3, options);
    }
}
