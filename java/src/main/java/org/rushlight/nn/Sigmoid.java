package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies the sigmoid element-wise: {@code 1 / (1 + exp(-x))}.
 *
 * <pre>{@code
 * System.out.println(new Sigmoid().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.2689, 0.6225, 0.8808])
 * }</pre>
 */
public final class Sigmoid extends Module {
    /** Creates the layer. */
    public Sigmoid() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.sigmoid(input);
    }
}
