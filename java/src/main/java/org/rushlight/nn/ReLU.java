package org.rushlight.nn;

import org.rushlight.Tensor;

/** {@code max(x, 0)}, element by element. */
public final class ReLU extends Module {
    /** A rectifier. */
    public ReLU() {}

    @Override
    public Tensor forward(Tensor input) {
        return input.relu();
    }
}
