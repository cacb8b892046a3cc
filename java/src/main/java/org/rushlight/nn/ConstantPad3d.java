package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Pads the last three dimensions with a constant value.
 *
 * <pre>{@code
 * Tensor y = new ConstantPad3d(7, 1).forward(Torch.ones(1, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 3, 10, 10, 10]
 * }</pre>
 */
public final class ConstantPad3d extends Module {
    private final double value;
    private final long[] padding;

    /**
     * Creates the layer.
     *
     * @param value the number
     * @param padding two sizes (before, after) per dimension, starting with the last; or one size for all sides
     */
    public ConstantPad3d(double value, long... padding) {
        this.value = value;
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 6), PadMode.CONSTANT, value);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("padding", Sizes.expand("padding", padding, 6)).named("value", value).toString();
    }
}
