package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The hyperbolic tangent.
 *
 * <pre>{@code
 * System.out.println(new Tanh().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.7616,  0.4621,  0.9640])
 * }</pre>
 */
public final class Tanh extends Module {
    /** Creates the layer. */
    public Tanh() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.tanh(input);
    }
}
