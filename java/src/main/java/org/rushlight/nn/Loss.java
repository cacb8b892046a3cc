package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/** A loss: how far an input is from a target. */
public abstract class Loss extends Module {
    Loss() {}

    /**
     * Computes the loss.
     *
     * @param input what a model says
     * @param target what it should say
     * @return a scalar, or one loss for each element
     */
    public abstract Tensor forward(Tensor input, Tensor target);

    /** A buffer of the loss for a tensor that its user keeps: the two share it. */
    final @Nullable Tensor weight(String name, @Nullable Tensor given) {
        return given == null ? null : registerBuffer(name, given.share());
    }
}
