package org.rushlight.optim;

import java.util.function.LongToDoubleFunction;

/** The rate at the start times a function of the epoch. */
public final class LambdaLR extends LRScheduler {
    private final LongToDoubleFunction factor;

    /**
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param factor the factor of an epoch
     */
    public LambdaLR(Optimizer optimizer, LongToDoubleFunction factor) {
        super(optimizer);
        this.factor = factor;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        return base * factor.applyAsDouble(epoch);
    }
}
