package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * A sigmoid made of three lines.
 *
 * <pre>{@code
 * System.out.println(new Hardsigmoid().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.3333, 0.5833, 0.8333])
 * }</pre>
 */
public final class Hardsigmoid extends Module {
    /** The layer. */
    public Hardsigmoid() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.hardsigmoid(input);
    }
}
