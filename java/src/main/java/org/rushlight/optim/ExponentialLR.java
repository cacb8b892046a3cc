package org.rushlight.optim;

/** Multiplies the rate by a factor at each epoch. */
public final class ExponentialLR extends LRScheduler {
    private final double gamma;

    /**
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param gamma the factor
     */
    public ExponentialLR(Optimizer optimizer, double gamma) {
        super(optimizer);
        this.gamma = gamma;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        return epoch == 0 ? lr : lr * gamma;
    }
}
