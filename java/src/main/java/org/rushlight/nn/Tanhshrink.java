package org.rushlight.nn;

import org.rushlight.Tensor;

/** {@code x - tanh(x)}. */
public final class Tanhshrink extends Module {
    /** The layer. */
    public Tanhshrink() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.tanhshrink(input);
    }
}
