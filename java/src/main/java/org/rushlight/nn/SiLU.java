package org.rushlight.nn;

import org.rushlight.Tensor;

/** {@code x sigmoid(x)}. */
public final class SiLU extends Module {
    /** The layer. */
    public SiLU() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.silu(input);
    }
}
