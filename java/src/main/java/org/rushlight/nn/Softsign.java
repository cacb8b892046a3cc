package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies softsign element-wise: {@code x / (1 + |x|)}.
 *
 * <pre>{@code
 * System.out.println(new Softsign().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.5000,  0.3333,  0.6667])
 * }</pre>
 */
public final class Softsign extends Module {
    /** Creates the layer. */
    public Softsign() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.softsign(input);
    }
}
