package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The largest number of each of as many windows of images: {@code (N, C, H, W)} as the output has elements.
 *
 * <pre>{@code
 * Tensor y = new AdaptiveMaxPool2d(5, 4).forward(Torch.ones(2, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 5, 4]
 * }</pre>
 */
public final class AdaptiveMaxPool2d extends Module {
    private final long[] outputSize;

    /**
     * The layer.
     *
     * @param outputSize size of the output; -1 for that of the input
     */
    public AdaptiveMaxPool2d(long... outputSize) {
        this.outputSize = outputSize.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.adaptiveMaxPool2d(input, outputSize);
    }

    /**
     * The pooled numbers and their places.
     *
     * @param input the input
     * @return both
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.adaptiveMaxPool2dWithIndices(input, outputSize);
    }

    @Override
    protected String extraRepr() {
        return new Repr().sizes("output_size", outputSize).toString();
    }
}
