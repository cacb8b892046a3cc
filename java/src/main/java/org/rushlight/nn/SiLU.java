package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies the Sigmoid Linear Unit (swish) element-wise: {@code x * sigmoid(x)}.
 *
 * <pre>{@code
 * System.out.println(new SiLU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.2689,  0.3112,  1.7616])
 * }</pre>
 */
public final class SiLU extends Module {
    /** Creates the layer. */
    public SiLU() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.silu(input);
    }
}
