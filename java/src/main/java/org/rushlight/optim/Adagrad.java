package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Implements Adagrad, which divides each step by the root of the accumulated squared gradients (Duchi, Hazan and Singer
 * 2011).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requiresGrad_(true);
 * try (Adagrad optimizer = new Adagrad(List.of(w), 0.1)) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.9000])
 * }
 * }</pre>
 */
public final class Adagrad extends OptionedOptimizer<Adagrad.Options> {
    /** Options of the optimizer. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        double lrDecay = 0;
        double weightDecay = 0;
        double initialAccumulatorValue = 0;
        double eps = 1e-10;
        boolean maximize = false;

        /** Creates PyTorch's default options, with a learning rate of 1e-2. */
        public Options() {
            this(1e-2);
        }

        /**
         * Creates PyTorch's default options with the given learning rate.
         *
         * @param lr learning rate
         */
        public Options(double lr) {
            super(lr);
        }

        /**
         * Sets lrDecay: decay of the learning rate per step (default 0).
         *
         * @param value decay of the learning rate per step (default 0)
         * @return the changed options
         */
        public Options withLrDecay(double value) {
            return with(options -> options.lrDecay = value);
        }

        /**
         * Sets weightDecay: weight decay: coefficient of the L2 penalty (default 0).
         *
         * @param value weight decay: coefficient of the L2 penalty (default 0)
         * @return the changed options
         */
        public Options withWeightDecay(double value) {
            return with(options -> options.weightDecay = value);
        }

        /**
         * Sets initialAccumulatorValue: initial value of the accumulated squares (default 0).
         *
         * @param value initial value of the accumulated squares (default 0)
         * @return the changed options
         */
        public Options withInitialAccumulatorValue(double value) {
            return with(options -> options.initialAccumulatorValue = value);
        }

        /**
         * Sets eps: term added to the denominator for numerical stability.
         *
         * @param value term added to the denominator for numerical stability
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets maximize: whether to maximize the objective (default false).
         *
         * @param value whether to maximize the objective (default false)
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
     * Creates the optimizer with PyTorch's defaults.
     *
     * @param parameters parameters to optimize
     */
    public Adagrad(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * Creates the optimizer with a learning rate and PyTorch's other defaults.
     *
     * @param parameters parameters to optimize
     * @param lr learning rate
     */
    public Adagrad(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * Creates the optimizer with options.
     *
     * @param parameters parameters to optimize
     * @param options the options
     */
    public Adagrad(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * Creates the optimizer with parameter groups.
     *
     * @param options options of the groups without their own options
     * @param groups parameter groups to optimize
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
                keep(which.get(i), "sum", Torch.fullLike(values[i], options.initialAccumulatorValue));
            }
        }
        Torch._fusedAdagrad_(values, grads, gather(which, "sum"), steps, options.lr(), options.lrDecay, options.weightDecay, options.eps,
            options.maximize);
    }
}
