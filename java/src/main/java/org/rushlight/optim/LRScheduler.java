package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;

/** Changes the learning rates of an optimizer from epoch to epoch. */
public abstract class LRScheduler {
    final Optimizer optimizer;
    private final double[] baseLrs;
    private long epoch;

    LRScheduler(Optimizer optimizer) {
        this.optimizer = optimizer;
        baseLrs = optimizer.parameterGroups().stream().mapToDouble(ParameterGroup::lr).toArray();
    }

    /** Sets the learning rates of epoch 0: called when a subclass is complete. */
    final void begin() {
        apply();
    }

    /** Goes on to the next epoch. */
    public final void step() {
        epoch++;
        apply();
    }

    private void apply() {
        List<ParameterGroup> groups = optimizer.parameterGroups();
        for (int i = 0; i < baseLrs.length; i++) {
            groups.get(i).setLr(lr(epoch, groups.get(i).lr(), baseLrs[i]));
        }
    }

    /**
     * The learning rate of an epoch.
     *
     * @param epoch the epoch
     * @param lr the rate of the epoch before
     * @param base the rate at the start
     * @return the rate
     */
    abstract double lr(long epoch, double lr, double base);

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
