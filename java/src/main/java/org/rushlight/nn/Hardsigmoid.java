package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies the hard sigmoid element-wise: {@code min(max(0, x + 3), 6) / 6}.
 *
 * <pre>{@code
 * System.out.println(new Hardsigmoid().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.3333, 0.5833, 0.8333])
 * }</pre>
 */
public final class Hardsigmoid extends Module {
    /** Creates the layer. */
    public Hardsigmoid() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.hardsigmoid(input);
    }
}
