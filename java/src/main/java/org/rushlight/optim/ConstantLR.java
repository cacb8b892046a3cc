package org.rushlight.optim;

/** A part of the rate in the first epochs. */
public final class ConstantLR extends LRScheduler {
    private final double factor;
    private final long totalIters;

    /**
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param factor the part
     * @param totalIters how many epochs
     */
    public ConstantLR(Optimizer optimizer, double factor, long totalIters) {
        super(optimizer);
        this.factor = factor;
        this.totalIters = totalIters;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        return epoch == 0 ? lr * factor : epoch == totalIters ? lr / factor : lr;
    }
}
