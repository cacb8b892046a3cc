package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * A number around the input: the last 1 dimension.
 *
 * <pre>{@code
 * System.out.println(new ConstantPad1d(7, 1, 2).forward(Tensor.of(new float[][] {{1, 2, 3}}))); // tensor([[7., 1., 2., 3., 7., 7.]])
 * }</pre>
 */
public final class ConstantPad1d extends Module {
    private final double value;
    private final long[] padding;

    /**
     * The layer.
     *
     * @param value the number
     * @param padding two numbers per dimension, the last dimension first; or one number for all
     */
    public ConstantPad1d(double value, long... padding) {
        this.value = value;
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 2), "constant", value);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("padding", Sizes.expand("padding", padding, 2)).named("value", value).toString();
    }
}
