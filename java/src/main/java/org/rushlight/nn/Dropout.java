package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Sets elements to zero with probability p while training, and scales the others by {@code 1 / (1 - p)}. */
public final class Dropout extends Module {
    private final double p;

    /** Dropout with probability 0.5. */
    public Dropout() {
        this(0.5);
    }

    /**
     * Dropout.
     *
     * @param p probability of an element to become zero
     */
    public Dropout(double p) {
        if (!(p >= 0 && p <= 1)) {
            throw new TensorValueException("dropout probability has to be between 0 and 1, but got " + p);
        }
        this.p = p;
    }

    @Override
    public Tensor forward(Tensor input) {
        return Torch.dropout(input, p, isTraining());
    }

    @Override
    protected String extraRepr() {
        return "p=" + p + ", inplace=False";
    }
}
