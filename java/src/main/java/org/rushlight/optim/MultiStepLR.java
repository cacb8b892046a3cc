package org.rushlight.optim;

import java.util.Arrays;

/**
 * Multiplies the learning rate by {@code gamma} at given epochs.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     MultiStepLR schedule = new MultiStepLR(optimizer, 0.1, 2, 8);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.01
 * }
 * }</pre>
 */
public final class MultiStepLR extends LRScheduler {
    private final double gamma;
    private final long[] milestones;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
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
