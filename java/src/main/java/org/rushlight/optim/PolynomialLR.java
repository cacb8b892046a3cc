package org.rushlight.optim;

/**
 * Decays the learning rate to zero with a power of the remaining epochs.
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
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param totalIters number of epochs during which the factor applies
     * @param power the exponent
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
