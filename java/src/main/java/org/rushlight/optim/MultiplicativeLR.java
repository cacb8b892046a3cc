package org.rushlight.optim;

import java.util.function.LongToDoubleFunction;

/**
 * Multiplies the learning rate by a function of the epoch.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     MultiplicativeLR schedule = new MultiplicativeLR(optimizer, e -> 0.5);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.00625
 * }
 * }</pre>
 */
public final class MultiplicativeLR extends LRScheduler {
    private final LongToDoubleFunction factor;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param factor function that returns the factor of an epoch, starting at 1
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
