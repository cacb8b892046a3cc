package org.rushlight.nn;

/**
 * Computes a partial inverse of {@link MaxPool1d}: {@code (N, C, L)}.
 *
 * <pre>{@code
 * Pooled pooled = new MaxPool1d(2).forwardWithIndices(Torch.rand(1, 3, 8));
 * Tensor y = new MaxUnpool1d(2).forward(pooled.output(), pooled.indices());
 * System.out.println(Arrays.toString(y.shape())); // [1, 3, 8]
 * }</pre>
 */
public final class MaxUnpool1d extends MaxUnpoolNd {
    /** Options of {@link MaxUnpool1d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends MaxUnpoolOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param kernelSize size of the window
         */
        public Options(long... kernelSize) {
            super(kernelSize);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param kernelSize size of the window
     */
    public MaxUnpool1d(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public MaxUnpool1d(Options options) {
        super(1, options);
    }
}
