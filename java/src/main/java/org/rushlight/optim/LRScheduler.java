package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;

/**
 * Changes the learning rates of an optimizer from epoch to epoch. A schedule of one's own says in {@link #lr} what the rate is:
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
     * A schedule, whose constructor ends with {@link #begin}.
     *
     * @param optimizer whose learning rates
     */
    protected LRScheduler(Optimizer optimizer) {
        this.optimizer = optimizer;
        baseLrs = optimizer.parameterGroups().stream().mapToDouble(ParameterGroup::lr).toArray();
    }

    /** Sets the learning rates of epoch 0: what a subclass calls when it is complete. */
    protected final void begin() {
        apply();
    }

    /** Goes on to the next epoch. */
    public final void step() {
        epoch++;
        try {
            apply();
        } catch (RuntimeException e) {
            epoch--;
            throw e;
        }
    }

    /** Asks for all rates before it sets one: what {@link #lr} throws leaves them as they are. */
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
     * The learning rate of an epoch.
     *
     * @param epoch the epoch, from 0 on
     * @param lr the rate of the epoch before; in the first one that of the optimizer
     * @param base the rate that the optimizer began with
     * @return the rate
     */
    protected abstract double lr(long epoch, double lr, double base);

    /**
     * The number of the epoch.
     *
     * @return how often {@link #step} was called
     */
    public final long lastEpoch() {
        return epoch;
    }

    /**
     * The learning rate of each group.
     *
     * @return the rates
     */
    public final double[] lastLr() {
        return optimizer.parameterGroups().stream().mapToDouble(ParameterGroup::lr).toArray();
    }

    /**
     * The state, for saving beside that of the optimizer: scalars of the innermost scope.
     *
     * @return tensors by name
     */
    public final Map<String, Tensor> stateDict() {
        return Map.of("last_epoch", Tensor.of(new long[] {epoch}, new long[0]), "base_lrs", Tensor.of(baseLrs), "last_lr", Tensor.of(lastLr()));
    }

    /**
     * Restores the state, and the learning rates.
     *
     * @param source what {@link #stateDict} returned
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
