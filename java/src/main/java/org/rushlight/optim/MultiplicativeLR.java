package org.rushlight.optim;

import java.util.function.LongToDoubleFunction;

/**
 * Multiplies the rate by a function of the epoch.
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
