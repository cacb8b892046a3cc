package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies circular padding to the last dimension.
 *
 * <pre>{@code
 * System.out.println(new CircularPad1d(1, 2).forward(Tensor.of(new float[][] {{1, 2, 3}}))); // tensor([[3., 1., 2., 3., 1., 2.]])
 * }</pre>
 */
public final class CircularPad1d extends Module {
    private final long[] padding;

    /**
     * Creates the layer.
     *
     * @param padding two sizes (before, after) per dimension, starting with the last; or one size for all sides
     */
    public CircularPad1d(long... padding) {
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 2), PadMode.CIRCULAR, 0);
    }

    @Override
    protected String extraRepr() {
        return Repr.text(Sizes.expand("padding", padding, 2)).toString();
    }
}
