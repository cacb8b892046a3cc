package org.rushlight.optim;

/**
 * Anneals the learning rate between its initial value and a minimum along a cosine.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     CosineAnnealingLR schedule = new CosineAnnealingLR(optimizer, 8, 0);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.05
 * }
 * }</pre>
 */
public final class CosineAnnealingLR extends LRScheduler {
    private final long tMax;
    private final double etaMin;

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param tMax half of the period, in epochs
     * @param etaMin the minimum learning rate
     */
    public CosineAnnealingLR(Optimizer optimizer, long tMax, double etaMin) {
        super(optimizer);
        this.tMax = tMax;
        this.etaMin = etaMin;
        begin();
    }

    @Override
    protected double lr(long epoch, double lr, double base) {
        if (epoch == 0) {
            return lr;
        }
        if ((epoch - 1 - tMax) % (2 * tMax) == 0) {
            return lr + (base - etaMin) * (1 - Math.cos(Math.PI / tMax)) / 2;
        }
        return (1 + Math.cos(Math.PI * epoch / tMax)) / (1 + Math.cos(Math.PI * (epoch - 1) / tMax)) * (lr - etaMin) + etaMin;
    }
}
