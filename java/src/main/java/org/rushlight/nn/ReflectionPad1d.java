package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Pads the last dimension by reflection.
 *
 * <pre>{@code
 * System.out.println(new ReflectionPad1d(1, 2).forward(Tensor.of(new float[][] {{1, 2, 3}}))); // tensor([[2., 1., 2., 3., 2., 1.]])
 * }</pre>
 */
public final class ReflectionPad1d extends Module {
    private final long[] padding;

    /**
     * Creates the layer.
     *
     * @param padding two sizes (before, after) per dimension, starting with the last; or one size for all sides
     */
    public ReflectionPad1d(long... padding) {
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 2), PadMode.REFLECT, 0);
    }

    @Override
    protected String extraRepr() {
        return Repr.text(Sizes.expand("padding", padding, 2)).toString();
    }
}
