package org.rushlight.nn;

import org.rushlight.Tensor;

/** {@code x tanh(softplus(x))}. */
public final class Mish extends Module {
    /** The layer. */
    public Mish() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.mish(input);
    }
}
