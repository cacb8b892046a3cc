package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies softmax along a dimension: {@code exp(x) / sum(exp(x))}.
 *
 * <pre>{@code
 * System.out.println(new Softmax(0).forward(Tensor.of(1f, 1f, 2f))); // tensor([0.2119, 0.2119, 0.5761])
 * }</pre>
 */
public final class Softmax extends Module {
    private final long dim;

    /**
     * Creates the layer.
     *
     * @param dim dimension along which the elements sum to 1
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
