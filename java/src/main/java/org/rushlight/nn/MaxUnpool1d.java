package org.rushlight.nn;

/**
 * Puts numbers of sequences: {@code (N, C, L)} where max pooling found them, and zeros elsewhere.
 *
 * <pre>{@code
 * Pooled pooled = new MaxPool1d(2).forwardWithIndices(Torch.rand(1, 3, 8));
 * Tensor y = new MaxUnpool1d(2).forward(pooled.output(), pooled.indices());
 * System.out.println(Arrays.toString(y.shape())); // [1, 3, 8]
 * }</pre>
 */
public final class MaxUnpool1d extends MaxUnpoolNd {
    /**
     * The layer with the defaults.
     *
     * @param kernelSize size of a window
     */
    public MaxUnpool1d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MaxUnpool1d(Options options) {
        super(1, options);
    }
}
