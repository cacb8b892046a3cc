package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies {@code x - tanh(x)} element-wise.
 *
 * <pre>{@code
 * System.out.println(new Tanhshrink().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.2384,  0.0379,  1.0360])
 * }</pre>
 */
public final class Tanhshrink extends Module {
    /** Creates the layer. */
    public Tanhshrink() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.tanhshrink(input);
    }
}
