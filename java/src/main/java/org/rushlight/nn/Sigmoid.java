package org.rushlight.nn;

import org.rushlight.Tensor;

/** {@code 1 / (1 + exp(-x))}. */
public final class Sigmoid extends Module {
    /** The layer. */
    public Sigmoid() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.sigmoid(input);
    }
}
