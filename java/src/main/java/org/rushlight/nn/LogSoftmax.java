package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies the logarithm of {@link Softmax}.
 *
 * <pre>{@code
 * System.out.println(new LogSoftmax(0).forward(Tensor.of(1f, 1f, 2f))); // tensor([-1.5514, -1.5514, -0.5514])
 * }</pre>
 */
public final class LogSoftmax extends Module {
    private final long dim;

    /**
     * Creates the layer.
     *
     * @param dim dimension along which the elements sum to 1
     */
    public LogSoftmax(long dim) {
        this.dim = dim;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.logSoftmax(input, dim);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("dim", dim).toString();
    }
}
