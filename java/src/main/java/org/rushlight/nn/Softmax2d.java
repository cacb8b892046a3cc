package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Applies softmax over the channels of an input of shape {@code (N, C, H, W)}.
 *
 * <pre>{@code
 * System.out.println(new Softmax2d().forward(Torch.ones(1, 2, 3, 3)).get(0, 1, 2, 2)); // tensor(0.5000)
 * }</pre>
 */
public final class Softmax2d extends Module {
    /** Creates the layer. */
    public Softmax2d() {}

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        if (input.dim() != 3 && input.dim() != 4) {
            throw new TensorValueException("Softmax2d requires a 3D or 4D tensor as input");
        }
        return Functional.softmax(input, -3);
    }
}
