package org.rushlight.optim;

/**
 * Multiplies the learning rate by a constant factor during the first epochs.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     ConstantLR schedule = new ConstantLR(optimizer, 0.5, 8);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.05
 * }
 * }</pre>
 */
public final class ConstantLR extends LRScheduler {
    private final double factor;
    private final long totalIters;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param factor the factor
     * @param totalIters number of epochs during which the factor applies
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
