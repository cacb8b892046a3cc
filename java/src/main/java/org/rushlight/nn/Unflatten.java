package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Splits a dimension into several.
 *
 * <pre>{@code
 * Tensor y = new Unflatten(1, 3, 8).forward(Torch.ones(4, 24));
 * System.out.println(Arrays.toString(y.shape())); // [4, 3, 8]
 * }</pre>
 */
public final class Unflatten extends Module {
    private final long dim;
    private final long[] sizes;

    /**
     * Creates the layer.
     *
     * @param dim dimension
     * @param sizes the new sizes; -1 is inferred
     */
    public Unflatten(long dim, long... sizes) {
        this.dim = dim;
        this.sizes = sizes.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return input.unflatten(dim, sizes);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("dim", dim).named("unflattened_size", sizes).toString();
    }
}
