package org.rushlight.optim;

/**
 * Changes the factor of the learning rate linearly.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     LinearLR schedule = new LinearLR(optimizer, 0.5, 1, 8);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.075
 * }
 * }</pre>
 */
public final class LinearLR extends LRScheduler {
    private final double startFactor;
    private final double endFactor;
    private final long totalIters;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param startFactor initial factor
     * @param endFactor final factor
     * @param totalIters number of epochs during which the factor applies
     */
    public LinearLR(Optimizer optimizer, double startFactor, double endFactor, long totalIters) {
        super(optimizer);
        this.startFactor = startFactor;
        this.endFactor = endFactor;
        this.totalIters = totalIters;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        if (epoch == 0) {
            return lr * startFactor;
        }
        if (epoch > totalIters) {
            return lr;
        }
        return lr * (1 + (endFactor - startFactor) / (totalIters * startFactor + (epoch - 1) * (endFactor - startFactor)));
    }
}
