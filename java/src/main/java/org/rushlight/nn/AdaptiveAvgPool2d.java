package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The mean of each of as many windows of images: {@code (N, C, H, W)} as the output has elements.
 *
 * <pre>{@code
 * Tensor y = new AdaptiveAvgPool2d(5, 4).forward(Torch.ones(2, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 5, 4]
 * }</pre>
 */
public final class AdaptiveAvgPool2d extends Module {
    private final long[] outputSize;

    /**
     * The layer.
     *
     * @param outputSize size of the output; -1 for that of the input
     */
    public AdaptiveAvgPool2d(long... outputSize) {
        this.outputSize = outputSize.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.adaptiveAvgPool2d(input, outputSize);
    }

    @Override
    protected String extraRepr() {
        return new Repr().sizes("output_size", outputSize).toString();
    }
}
