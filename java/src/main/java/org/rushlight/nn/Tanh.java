package org.rushlight.nn;

import org.rushlight.Tensor;

/** The hyperbolic tangent. */
public final class Tanh extends Module {
    /** The layer. */
    public Tanh() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.tanh(input);
    }
}
