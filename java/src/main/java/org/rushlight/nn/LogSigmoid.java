package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies the logarithm of the sigmoid element-wise.
 *
 * <pre>{@code
 * System.out.println(new LogSigmoid().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-1.3133, -0.4741, -0.1269])
 * }</pre>
 */
public final class LogSigmoid extends Module {
    /** Creates the layer. */
    public LogSigmoid() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.logsigmoid(input);
    }
}
