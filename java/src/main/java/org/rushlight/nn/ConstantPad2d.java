package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * A number around the input: the last 2 dimensions.
 *
 * <pre>{@code
 * Tensor y = new ConstantPad2d(7, 1).forward(Torch.ones(1, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 3, 10, 10]
 * }</pre>
 */
public final class ConstantPad2d extends Module {
    private final double value;
    private final long[] padding;

    /**
     * The layer.
     *
     * @param value the number
     * @param padding two numbers per dimension, the last dimension first; or one number for all
     */
    public ConstantPad2d(double value, long... padding) {
        this.value = value;
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 4), "constant", value);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("padding", Sizes.expand("padding", padding, 4)).named("value", value).toString();
    }
}
