package org.rushlight.optim;

import java.util.function.LongToDoubleFunction;

/**
 * Multiplies the initial learning rate by a function of the epoch.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     LambdaLR schedule = new LambdaLR(optimizer, e -> 1.0 / (1 + e));
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.02
 * }
 * }</pre>
 */
public final class LambdaLR extends LRScheduler {
    private final LongToDoubleFunction factor;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param factor function that returns the factor of an epoch
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
