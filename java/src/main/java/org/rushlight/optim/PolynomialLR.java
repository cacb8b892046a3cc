package org.rushlight.optim;

/**
 * Down to zero, by a power of the epochs that are left.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     PolynomialLR schedule = new PolynomialLR(optimizer, 8, 1);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.05
 * }
 * }</pre>
 */
public final class PolynomialLR extends LRScheduler {
    private final long totalIters;
    private final double power;

    /**
     * A schedule.
     *
     * @param optimizer whose learning rates
     * @param totalIters how many epochs
     * @param power the power
     */
    public PolynomialLR(Optimizer optimizer, long totalIters, double power) {
        super(optimizer);
        this.totalIters = totalIters;
        this.power = power;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        if (epoch == 0 || epoch > totalIters) {
            return lr;
        }
        double left = 1 - (double) epoch / totalIters;
        double before = 1 - (double) (epoch - 1) / totalIters;
        return lr * Math.pow(left / before, power);
    }
}
