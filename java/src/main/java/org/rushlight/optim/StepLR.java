package org.rushlight.optim;

/** Multiplies the rate by a factor every few epochs. */
public final class StepLR extends LRScheduler {
    private final long stepSize;
    private final double gamma;

    /**
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param stepSize how many epochs
     * @param gamma the factor
     */
    public StepLR(Optimizer optimizer, long stepSize, double gamma) {
        super(optimizer);
        this.stepSize = stepSize;
        this.gamma = gamma;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        return epoch == 0 || epoch % stepSize != 0 ? lr : lr * gamma;
    }
}
