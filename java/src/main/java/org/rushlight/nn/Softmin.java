package org.rushlight.nn;

import org.rushlight.Tensor;

/** Softmax of {@code -x}. */
public final class Softmin extends Module {
    private final long dim;

    /**
     * The layer.
     *
     * @param dim the dimension that sums to one
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
