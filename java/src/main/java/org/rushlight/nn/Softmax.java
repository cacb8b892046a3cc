package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Exponentials, scaled to a sum of one.
 *
 * <pre>{@code
 * System.out.println(new Softmax(0).forward(Tensor.of(1f, 1f, 2f))); // tensor([0.2119, 0.2119, 0.5761])
 * }</pre>
 */
public final class Softmax extends Module {
    private final long dim;

    /**
     * The layer.
     *
     * @param dim the dimension that sums to one
     */
    public Softmax(long dim) {
        this.dim = dim;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.softmax(input, dim);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("dim", dim).toString();
    }
}
