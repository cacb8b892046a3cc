package org.rushlight.optim;

import java.util.Arrays;

/** Multiplies the rate by a factor at certain epochs. */
public final class MultiStepLR extends LRScheduler {
    private final double gamma;
    private final long[] milestones;

    /**
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param gamma the factor
     * @param milestones the epochs
     */
    public MultiStepLR(Optimizer optimizer, double gamma, long... milestones) {
        super(optimizer);
        this.gamma = gamma;
        this.milestones = milestones.clone();
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        long times = Arrays.stream(milestones).filter(milestone -> milestone == epoch).count();
        return times == 0 ? lr : lr * Math.pow(gamma, times);
    }
}
