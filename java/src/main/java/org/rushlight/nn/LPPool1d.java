package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The norm of each window of sequences: {@code (N, C, L)}.
 *
 * <pre>{@code
 * Tensor y = new LPPool1d(2, 2).forward(Torch.ones(2, 3, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 4]
 * }</pre>
 */
public final class LPPool1d extends LPPoolNd {
    /**
     * The layer with the defaults.
     *
     * @param normType degree of the norm
     * @param kernelSize size of a window
     */
    public LPPool1d(double normType, long... kernelSize) {
        this(new Options(normType, kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public LPPool1d(Options options) {
        super(1, options);
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.lpPool1d(input, options.normType, kernelSize, stride, options.ceilMode);
    }
}
