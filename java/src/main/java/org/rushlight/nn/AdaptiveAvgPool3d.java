package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The mean of each of as many windows of volumes: {@code (N, C, D, H, W)} as the output has elements.
 *
 * <pre>{@code
 * Tensor y = new AdaptiveAvgPool3d(5, 4, 3).forward(Torch.ones(2, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 5, 4, 3]
 * }</pre>
 */
public final class AdaptiveAvgPool3d extends Module {
    private final long[] outputSize;

    /**
     * The layer.
     *
     * @param outputSize size of the output; -1 for that of the input
     */
    public AdaptiveAvgPool3d(long... outputSize) {
        this.outputSize = outputSize.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.adaptiveAvgPool3d(input, outputSize);
    }

    @Override
    protected String extraRepr() {
        return new Repr().sizes("output_size", outputSize).toString();
    }
}
