package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies hard swish element-wise: {@code x * min(max(0, x + 3), 6) / 6}.
 *
 * <pre>{@code
 * System.out.println(new Hardswish().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.3333,  0.2917,  1.6667])
 * }</pre>
 */
public final class Hardswish extends Module {
    /** Creates the layer. */
    public Hardswish() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.hardswish(input);
    }
}
