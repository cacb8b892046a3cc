package org.rushlight.optim;

import java.util.function.LongToDoubleFunction;

/** Multiplies the rate by a function of the epoch. */
public final class MultiplicativeLR extends LRScheduler {
    private final LongToDoubleFunction factor;

    /**
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param factor the factor of an epoch, from 1 on
     */
    public MultiplicativeLR(Optimizer optimizer, LongToDoubleFunction factor) {
        super(optimizer);
        this.factor = factor;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        return epoch == 0 ? lr : lr * factor.applyAsDouble(epoch);
    }
}
