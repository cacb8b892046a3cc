package org.rushlight.optim;

/**
 * A part of the rate in the first epochs.
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
