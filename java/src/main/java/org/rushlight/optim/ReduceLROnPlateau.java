package org.rushlight.optim;

import java.util.Map;
import org.rushlight.CopiedOptions;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Multiplies the learning rates by a factor when a metric has stopped improving.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), 0.1)) {
 *     ReduceLROnPlateau schedule = new ReduceLROnPlateau(optimizer, new ReduceLROnPlateau.Options().withPatience(1));
 *     for (double loss : new double[] {2, 1, 1, 1}) {
 *         schedule.step(loss); // no better for longer than the patience
 *     }
 *     System.out.println((float) optimizer.parameterGroups().get(0).lr()); // 0.01
 * }
 * }</pre>
 */
public final class ReduceLROnPlateau {
    private final Optimizer optimizer;
    private final Options options;
    private double best;
    private long bad;
    private long cooling;

    /** Whether lower or higher metrics are better. */
    public enum Mode {
        /** Lower is better, as for losses. */
        MIN,
        /** Higher is better, as for accuracies. */
        MAX
    }

    /** Options of the schedule. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends CopiedOptions<Options> {
        private Mode mode = Mode.MIN;
        private double factor = 0.1;
        private long patience = 10;
        private double threshold = 1e-4;
        private boolean relativeThreshold = true;
        private long cooldown = 0;
        private double minLr = 0;
        private double eps = 1e-8;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets mode: whether lower or higher metrics are better (default {@code MIN}).
         *
         * @param value whether lower or higher metrics are better (default {@code MIN})
         * @return the changed options
         */
        public Options withMode(Mode value) {
            return with(options -> options.mode = value);
        }

        /**
         * Sets factor: factor of the learning rate (default 0.1).
         *
         * @param value factor of the learning rate (default 0.1)
         * @return the changed options
         */
        public Options withFactor(double value) {
            return with(options -> options.factor = value);
        }

        /**
         * Sets patience: number of epochs without improvement that are tolerated (default 10).
         *
         * @param value number of epochs without improvement that are tolerated (default 10)
         * @return the changed options
         */
        public Options withPatience(long value) {
            return with(options -> options.patience = value);
        }

        /**
         * Sets threshold: minimum improvement (default 1e-4).
         *
         * @param value minimum improvement (default 1e-4)
         * @return the changed options
         */
        public Options withThreshold(double value) {
            return with(options -> options.threshold = value);
        }

        /**
         * Sets relativeThreshold: whether the threshold is relative to the best metric (default true).
         *
         * @param value whether the threshold is relative to the best metric (default true)
         * @return the changed options
         */
        public Options withRelativeThreshold(boolean value) {
            return with(options -> options.relativeThreshold = value);
        }

        /**
         * Sets cooldown: number of epochs to wait after a change (default 0).
         *
         * @param value number of epochs to wait after a change (default 0)
         * @return the changed options
         */
        public Options withCooldown(long value) {
            return with(options -> options.cooldown = value);
        }

        /**
         * Sets minLr: minimum learning rate (default 0).
         *
         * @param value minimum learning rate (default 0)
         * @return the changed options
         */
        public Options withMinLr(double value) {
            return with(options -> options.minLr = value);
        }

        /**
         * Sets eps: minimum change of a learning rate (default 1e-8).
         *
         * @param value minimum change of a learning rate (default 1e-8)
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }
    }

    /**
     * Creates a schedule with default options, for losses.
     *
     * @param optimizer the optimizer whose learning rates are changed
     */
    public ReduceLROnPlateau(Optimizer optimizer) {
        this(optimizer, new Options());
    }

    /**
     * Creates the schedule.
     *
     * @param optimizer the optimizer whose learning rates are changed
     * @param options the options
     */
    public ReduceLROnPlateau(Optimizer optimizer, Options options) {
        if (options.factor >= 1) {
            throw new TensorValueException("Factor should be < 1.0.");
        }
        this.optimizer = optimizer;
        this.options = options;
        best = options.mode == Mode.MIN ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
    }

    /**
     * Ends an epoch.
     *
     * @param metric value of the metric
     */
    public void step(double metric) {
        if (isBetter(metric)) {
            best = metric;
            bad = 0;
        } else {
            bad++;
        }
        if (cooling > 0) {
            cooling--;
            bad = 0;
        }
        if (bad > options.patience) {
            for (ParameterGroup group : optimizer.parameterGroups()) {
                double lower = Math.max(group.lr() * options.factor, options.minLr);
                if (group.lr() - lower > options.eps) {
                    group.setLr(lower);
                }
            }
            cooling = options.cooldown;
            bad = 0;
        }
    }

    /**
     * Returns the state, to be saved with that of the optimizer, which has the learning rates: scalar tensors of the
     * innermost scope.
     *
     * @return tensors by name
     */
    public Map<String, Tensor> stateDict() {
        return Map.of("best", Tensor.of(new double[] {best}, new long[0]), "num_bad_epochs", Tensor.of(new long[] {bad}, new long[0]),
            "cooldown_counter", Tensor.of(new long[] {cooling}, new long[0]));
    }

    /**
     * Restores the state.
     *
     * @param source a state returned by {@link #stateDict}
     */
    public void loadStateDict(Map<String, Tensor> source) {
        Tensor metric = source.get("best");
        Tensor epochs = source.get("num_bad_epochs");
        Tensor cooldown = source.get("cooldown_counter");
        if (source.size() != 3 || metric == null || epochs == null || cooldown == null) {
            throw new IllegalArgumentException("this is not the state of ReduceLROnPlateau: " + source.keySet());
        }
        best = metric.item().doubleValue();
        bad = epochs.item().longValue();
        cooling = cooldown.item().longValue();
    }

    private boolean isBetter(double metric) {
        double threshold = options.threshold;
        if (options.mode == Mode.MIN) {
            return metric < (options.relativeThreshold ? best * (1 - threshold) : best - threshold);
        }
        return metric > (options.relativeThreshold ? best * (1 + threshold) : best + threshold);
    }
}
