package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/** Base class of the losses. */
public abstract class Loss extends Module {
    Loss() {}

    /**
     * Computes the loss.
     *
     * @param input the predictions
     * @param target the targets
     * @return scalar tensor, or one loss per element for {@link org.rushlight.Reduction#NONE}
     */
    public abstract Tensor forward(Tensor input, Tensor target);

    /** Registers a tensor of the caller as a buffer of the loss; the two share it. */
    final @Nullable Tensor weight(String name, @Nullable Tensor given) {
        return given == null ? null : registerBuffer(name, given.share());
    }
}
