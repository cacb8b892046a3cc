package org.rushlight.optim;

/**
 * Multiplies the learning rate by {@code gamma} in every epoch.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     ExponentialLR schedule = new ExponentialLR(optimizer, 0.5);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.00625
 * }
 * }</pre>
 */
public final class ExponentialLR extends LRScheduler {
    private final double gamma;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param gamma the factor
     */
    public ExponentialLR(Optimizer optimizer, double gamma) {
        super(optimizer);
        this.gamma = gamma;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        return epoch == 0 ? lr : lr * gamma;
    }
}
