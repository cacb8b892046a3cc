package org.rushlight.optim;

/**
 * From a part of the rate to another, in a line.
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
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param startFactor the part at the start
     * @param endFactor the part at the end
     * @param totalIters how many epochs
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
