package org.rushlight.nn;

import org.rushlight.Tensor;

/** {@code x / (1 + |x|)}. */
public final class Softsign extends Module {
    /** The layer. */
    public Softsign() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.softsign(input);
    }
}
