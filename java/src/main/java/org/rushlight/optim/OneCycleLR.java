package org.rushlight.optim;

import org.rushlight.TensorValueException;

/**
 * Raises the learning rate to a maximum and lowers it again in one cycle, with momentum (or Adam's first beta) changing
 * in the opposite direction (Smith and Topin 2017). A step belongs to a batch.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     OneCycleLR schedule = new OneCycleLR(optimizer, 1.0, 8);
 *     for (int epoch = 0; epoch < 4; epoch++) {
 *         optimizer.step();
 *         schedule.step();
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.555984
 * }
 * }</pre>
 */
public final class OneCycleLR extends LRScheduler {
    private static final double BASE_MOMENTUM = 0.85;
    private static final double MAX_MOMENTUM = 0.95;
    private static final double DIV_FACTOR = 25;
    private static final double FINAL_DIV_FACTOR = 1e4;
    private static final double PCT_START = 0.3;

    private final double maxLr;
    private final long totalSteps;
    private final boolean cycleMomentum;

    /**
     * Creates a cycle with PyTorch's defaults.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param maxLr the maximum learning rate
     * @param totalSteps number of steps of the cycle
     */
    public OneCycleLR(Optimizer optimizer, double maxLr, long totalSteps) {
        super(optimizer);
        if (totalSteps <= 0) {
            throw new TensorValueException("Expected positive integer total_steps, but got " + totalSteps);
        }
        this.maxLr = maxLr;
        this.totalSteps = totalSteps;
        cycleMomentum = optimizer.parameterGroups().stream().allMatch(group -> group.options().momentumOrBeta() != null);
        begin();
    }

    @Override
    protected double lr(long step, double lr, double base) {
        if (step > totalSteps) {
            throw new TensorValueException("Tried to step " + step + " times. The specified number of total steps is " + totalSteps);
        }
        double initial = maxLr / DIV_FACTOR;
        double top = PCT_START * totalSteps - 1;
        double end = totalSteps - 1;
        boolean rising = step <= top;
        double share = rising ? step / top : (step - top) / (end - top);
        if (cycleMomentum) {
            double momentum = rising ? anneal(MAX_MOMENTUM, BASE_MOMENTUM, share) : anneal(BASE_MOMENTUM, MAX_MOMENTUM, share);
            optimizer.parameterGroups().forEach(group -> group.setOptions(group.options().withMomentumOrBeta(momentum)));
        }
        return rising ? anneal(initial, maxLr, share) : anneal(maxLr, initial / FINAL_DIV_FACTOR, share);
    }

    private static double anneal(double start, double end, double share) {
        return end + (start - end) / 2 * (Math.cos(Math.PI * share) + 1);
    }
}
