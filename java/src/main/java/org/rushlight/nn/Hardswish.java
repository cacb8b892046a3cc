package org.rushlight.nn;

import org.rushlight.Tensor;

/** {@code x hardsigmoid(x)}. */
public final class Hardswish extends Module {
    /** The layer. */
    public Hardswish() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.hardswish(input);
    }
}
