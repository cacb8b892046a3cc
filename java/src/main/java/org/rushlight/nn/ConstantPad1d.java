package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Pads the last dimension with a constant value.
 *
 * <pre>{@code
 * System.out.println(new ConstantPad1d(7, 1, 2).forward(Tensor.of(new float[][] {{1, 2, 3}}))); // tensor([[7., 1., 2., 3., 7., 7.]])
 * }</pre>
 */
public final class ConstantPad1d extends Module {
    private final double value;
    private final long[] padding;

    /**
     * Creates the layer.
     *
     * @param value the number
     * @param padding two sizes (before, after) per dimension, starting with the last; or one size for all sides
     */
    public ConstantPad1d(double value, long... padding) {
        this.value = value;
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 2), PadMode.CONSTANT, value);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("padding", Sizes.expand("padding", padding, 2)).named("value", value).toString();
    }
}
