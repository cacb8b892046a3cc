package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Returns the input unchanged.
 *
 * <pre>{@code
 * System.out.println(new Identity().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-1.0000,  0.5000,  2.0000])
 * }</pre>
 */
public final class Identity extends Module {
    /** Creates the layer. */
    public Identity() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return input;
    }
}
