package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;

/**
 * Changes the learning rates of an optimizer from epoch to epoch. A custom schedule returns the learning rate from
 * {@link #lr}:
 *
 * <pre>{@code
 * final class Halves extends LRScheduler {
 *     Halves(Optimizer optimizer) {
 *         super(optimizer);
 *         begin();
 *     }
 *
 *     protected double lr(long epoch, double lr, double base) {
 *         return epoch == 0 ? lr : lr / 2;
 *     }
 * }
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     new Halves(optimizer).step();
 *     System.out.println(optimizer.options().lr()); // 0.05
 * }
 * }</pre>
 */
public abstract class LRScheduler {
    final Optimizer optimizer;
    private final double[] baseLrs;
    private long epoch;

    /**
     * Creates a schedule; the constructor of a subclass ends with {@link #begin}.
     *
     * @param optimizer the optimizer whose learning rates are changed
     */
    protected LRScheduler(Optimizer optimizer) {
        this.optimizer = optimizer;
        baseLrs = optimizer.parameterGroups().stream().mapToDouble(ParameterGroup::lr).toArray();
    }

    /** Sets the learning rates of epoch 0; a subclass calls it at the end of its constructor. */
    protected final void begin() {
        apply();
    }

    /** Moves to the next epoch. */
    public final void step() {
        epoch++;
        try {
            apply();
        } catch (RuntimeException e) {
            epoch--;
            throw e;
        }
    }

    /** Computes all learning rates before it sets one, so that an exception from {@link #lr} leaves them unchanged. */
    private void apply() {
        List<ParameterGroup> groups = optimizer.parameterGroups();
        double[] rates = new double[baseLrs.length];
        for (int i = 0; i < rates.length; i++) {
            rates[i] = lr(epoch, groups.get(i).lr(), baseLrs[i]);
        }
        for (int i = 0; i < rates.length; i++) {
            groups.get(i).setLr(rates[i]);
        }
    }

    /**
     * Returns the learning rate of an epoch.
     *
     * @param epoch the epoch, starting at 0
     * @param lr the learning rate of the previous epoch; in the first one that of the optimizer
     * @param base the initial learning rate of the optimizer
     * @return the learning rate
     */
    protected abstract double lr(long epoch, double lr, double base);

    /**
     * Returns the current epoch.
     *
     * @return number of calls of {@link #step}
     */
    public final long lastEpoch() {
        return epoch;
    }

    /**
     * Returns the learning rate of each group.
     *
     * @return the learning rates
     */
    public final double[] lastLr() {
        return optimizer.parameterGroups().stream().mapToDouble(ParameterGroup::lr).toArray();
    }

    /**
     * Returns the state, to be saved with that of the optimizer: scalar tensors of the innermost scope.
     *
     * @return tensors by name
     */
    public final Map<String, Tensor> stateDict() {
        return Map.of("last_epoch", Tensor.of(new long[] {epoch}, new long[0]), "base_lrs", Tensor.of(baseLrs), "last_lr", Tensor.of(lastLr()));
    }

    /**
     * Restores the state and the learning rates.
     *
     * @param source a state returned by {@link #stateDict}
     */
    public final void loadStateDict(Map<String, Tensor> source) {
        Tensor epochs = source.get("last_epoch");
        Tensor bases = source.get("base_lrs");
        Tensor lrs = source.get("last_lr");
        if (source.size() != 3 || epochs == null || bases == null || lrs == null || bases.numel() != baseLrs.length
                || lrs.numel() != baseLrs.length) {
            throw new IllegalArgumentException("this is not the state of a schedule of " + baseLrs.length + " groups: " + source.keySet());
        }
        epoch = epochs.item().longValue();
        System.arraycopy(bases.toDoubleArray(), 0, baseLrs, 0, baseLrs.length);
        double[] last = lrs.toDoubleArray();
        List<ParameterGroup> groups = optimizer.parameterGroups();
        for (int i = 0; i < last.length; i++) {
            groups.get(i).setLr(last[i]);
        }
    }
}
