package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Pads the last three dimensions by reflection.
 *
 * <pre>{@code
 * Tensor y = new ReflectionPad3d(1).forward(Torch.ones(1, 3, 8, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 3, 10, 10, 10]
 * }</pre>
 */
public final class ReflectionPad3d extends Module {
    private final long[] padding;

    /**
     * Creates the layer.
     *
     * @param padding two sizes (before, after) per dimension, starting with the last; or one size for all sides
     */
    public ReflectionPad3d(long... padding) {
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 6), PadMode.REFLECT, 0);
    }

    @Override
    protected String extraRepr() {
        return Repr.text(Sizes.expand("padding", padding, 6)).toString();
    }
}
