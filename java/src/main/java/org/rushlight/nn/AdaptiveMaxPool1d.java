package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The largest number of each of as many windows of sequences: {@code (N, C, L)} as the output has elements.
 *
 * <pre>{@code
 * Tensor y = new AdaptiveMaxPool1d(5).forward(Torch.ones(2, 3, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 5]
 * }</pre>
 */
public final class AdaptiveMaxPool1d extends Module {
    private final long[] outputSize;

    /**
     * The layer.
     *
     * @param outputSize size of the output; -1 for that of the input
     */
    public AdaptiveMaxPool1d(long... outputSize) {
        this.outputSize = outputSize.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.adaptiveMaxPool1d(input, outputSize);
    }

    /**
     * The pooled numbers and their places.
     *
     * @param input the input
     * @return both
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.adaptiveMaxPool1dWithIndices(input, outputSize);
    }

    @Override
    protected String extraRepr() {
        return new Repr().sizes("output_size", outputSize).toString();
    }
}
