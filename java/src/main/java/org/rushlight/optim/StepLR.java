package org.rushlight.optim;

/**
 * Multiplies the learning rate by {@code gamma} every {@code stepSize} epochs.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     StepLR schedule = new StepLR(optimizer, 2, 0.5);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.025
 * }
 * }</pre>
 */
public final class StepLR extends LRScheduler {
    private final long stepSize;
    private final double gamma;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param stepSize number of epochs between changes
     * @param gamma the factor
     */
    public StepLR(Optimizer optimizer, long stepSize, double gamma) {
        super(optimizer);
        this.stepSize = stepSize;
        this.gamma = gamma;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        return epoch == 0 || epoch % stepSize != 0 ? lr : lr * gamma;
    }
}
