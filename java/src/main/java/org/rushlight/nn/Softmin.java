package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies softmin: the softmax of {@code -x}.
 *
 * <pre>{@code
 * System.out.println(new Softmin(0).forward(Tensor.of(1f, 1f, 2f))); // tensor([0.4223, 0.4223, 0.1554])
 * }</pre>
 */
public final class Softmin extends Module {
    private final long dim;

    /**
     * Creates the layer.
     *
     * @param dim dimension along which the elements sum to 1
     */
    public Softmin(long dim) {
        this.dim = dim;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.softmin(input, dim);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("dim", dim).toString();
    }
}
