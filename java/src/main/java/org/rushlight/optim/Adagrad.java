package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Adagrad: steps divided by the root of the sum of squares so far (Duchi, Hazan and Singer 2011).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requires_grad_(true);
 * try (Adagrad optimizer = new Adagrad(List.of(w), 0.1)) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.9000])
 * }
 * }</pre>
 */
public final class Adagrad extends OptionedOptimizer<Adagrad.Options> {
    /** What a step does. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        double lrDecay = 0;
        double weightDecay = 0;
        double initialAccumulatorValue = 0;
        double eps = 1e-10;
        boolean maximize = false;

        /** The defaults of PyTorch: a learning rate of 1e-2. */
        public Options() {
            this(1e-2);
        }

        /**
         * PyTorch's defaults with a learning rate.
         *
         * @param lr learning rate
         */
        public Options(double lr) {
            super(lr);
        }

        /**
         * Sets lrDecay: how the learning rate falls with steps.
         *
         * @param value how the learning rate falls with steps
         * @return the changed options
         */
        public Options withLrDecay(double value) {
            return with(options -> options.lrDecay = value);
        }

        /**
         * Sets weightDecay: share of the parameter that is added to its gradient.
         *
         * @param value share of the parameter that is added to its gradient
         * @return the changed options
         */
        public Options withWeightDecay(double value) {
            return with(options -> options.weightDecay = value);
        }

        /**
         * Sets initialAccumulatorValue: what the sum of squares starts with.
         *
         * @param value what the sum of squares starts with
         * @return the changed options
         */
        public Options withInitialAccumulatorValue(double value) {
            return with(options -> options.initialAccumulatorValue = value);
        }

        /**
         * Sets eps: added to the root.
         *
         * @param value added to the root
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets maximize: climb instead of descending.
         *
         * @param value climb instead of descending
         * @return the changed options
         */
        public Options withMaximize(boolean value) {
            return with(options -> options.maximize = value);
        }

        @Override
        protected void check() {
            super.check();
            check(lrDecay >= 0, "Invalid lr_decay value: ", lrDecay);
            check(weightDecay >= 0, "Invalid weight_decay value: ", weightDecay);
            check(initialAccumulatorValue >= 0, "Invalid initial_accumulator_value value: ", initialAccumulatorValue);
            check(eps >= 0, "Invalid epsilon value: ", eps);
        }

        @Override
        protected void exchange(Values values) {
            lrDecay = values.of("lr_decay", lrDecay);
            weightDecay = values.of("weight_decay", weightDecay);
            initialAccumulatorValue = values.of("initial_accumulator_value", initialAccumulatorValue);
            eps = values.of("eps", eps);
            maximize = values.of("maximize", maximize);
        }
    }

    /**
     * With PyTorch's defaults.
     *
     * @param parameters what to train
     */
    public Adagrad(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * With a learning rate and PyTorch's other defaults.
     *
     * @param parameters what to train
     * @param lr learning rate
     */
    public Adagrad(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * With options.
     *
     * @param parameters what to train
     * @param options what a step does
     */
    public Adagrad(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * With groups of parameters.
     *
     * @param options what a step does with groups that have no options of their own
     * @param groups what to train
     */
    public Adagrad(Options options, ParameterGroup... groups) {
        super(options, groups);
    }

    @Override
    protected Map<String, StateKind> stateKinds(int index, Tensor parameter) {
        return Map.of("step", StateKind.STEP, "sum", StateKind.like(parameter));
    }

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        Tensor[] steps = countSteps(which);
        for (int i = 0; i < values.length; i++) {
            if (!stateOf(which.get(i)).containsKey("sum")) {
                keep(which.get(i), "sum", Torch.full_like(values[i], options.initialAccumulatorValue));
            }
        }
        Torch._fused_adagrad_(values, grads, gather(which, "sum"), steps, options.lr(), options.lrDecay, options.weightDecay, options.eps,
            options.maximize);
    }
}
