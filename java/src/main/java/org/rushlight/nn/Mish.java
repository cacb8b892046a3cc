package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies Mish element-wise: {@code x * tanh(softplus(x))}.
 *
 * <pre>{@code
 * System.out.println(new Mish().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.3034,  0.3752,  1.9440])
 * }</pre>
 */
public final class Mish extends Module {
    /** Creates the layer. */
    public Mish() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.mish(input);
    }
}
