package org.rushlight.nn;

import org.rushlight.Tensor;

/** The logarithm of the sigmoid. */
public final class LogSigmoid extends Module {
    /** The layer. */
    public LogSigmoid() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.logsigmoid(input);
    }
}
