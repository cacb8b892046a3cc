package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies 3D adaptive max pooling over an input of shape {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * Tensor y = new AdaptiveMaxPool3d(5, 4, 3).forward(Torch.ones(2, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [2, 3, 5, 4, 3]
 * }</pre>
 */
public final class AdaptiveMaxPool3d extends Module {
    private final long[] outputSize;

    /**
     * Creates the layer.
     *
     * @param outputSize spatial size of the output; -1 keeps the size of the input
     */
    public AdaptiveMaxPool3d(long... outputSize) {
        this.outputSize = outputSize.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.adaptiveMaxPool3d(input, outputSize);
    }

    /**
     * Returns the maxima and their indices.
     *
     * @param input the input
     * @return both results
     */
    public Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return Functional.adaptiveMaxPool3dWithIndices(input, outputSize);
    }

    @Override
    protected String extraRepr() {
        return new Repr().sizes("output_size", outputSize).toString();
    }
}
