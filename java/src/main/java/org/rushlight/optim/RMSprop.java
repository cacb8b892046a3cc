package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Implements RMSprop, which divides gradients by a running root mean square (Hinton 2012).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requiresGrad_(true);
 * try (RMSprop optimizer = new RMSprop(List.of(w), 0.05)) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.5000])
 * }
 * }</pre>
 */
public final class RMSprop extends OptionedOptimizer<RMSprop.Options> {
    /** Options of the optimizer. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        double alpha = 0.99;
        double eps = 1e-8;
        double weightDecay = 0;
        double momentum = 0;
        boolean centered = false;
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
         * Sets alpha: decay rate of the running average of the squared gradient.
         *
         * @param value decay rate of the running average of the squared gradient
         * @return the changed options
         */
        public Options withAlpha(double value) {
            return with(options -> options.alpha = value);
        }

        /**
         * Sets eps: term added to the denominator for numerical stability (default 1e-8).
         *
         * @param value term added to the denominator for numerical stability (default 1e-8)
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
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
         * Sets momentum: momentum factor (default 0).
         *
         * @param value momentum factor (default 0)
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return with(options -> options.momentum = value);
        }

        /**
         * Sets centered: whether to divide by the standard deviation estimate instead (default false).
         *
         * @param value whether to divide by the standard deviation estimate instead (default false)
         * @return the changed options
         */
        public Options withCentered(boolean value) {
            return with(options -> options.centered = value);
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
        Double momentumOrBeta() {
            return momentum;
        }

        @Override
        Options withMomentumOrBeta(double value) {
            return withMomentum(value);
        }

        @Override
        protected void check() {
            super.check();
            check(eps >= 0, "Invalid epsilon value: ", eps);
            check(momentum >= 0, "Invalid momentum value: ", momentum);
            check(weightDecay >= 0, "Invalid weight_decay value: ", weightDecay);
            check(alpha >= 0, "Invalid alpha value: ", alpha);
        }

        @Override
        protected void exchange(Values values) {
            alpha = values.of("alpha", alpha);
            eps = values.of("eps", eps);
            weightDecay = values.of("weight_decay", weightDecay);
            momentum = values.of("momentum", momentum);
            centered = values.of("centered", centered);
            maximize = values.of("maximize", maximize);
        }
    }

    /**
     * Creates the optimizer with PyTorch's defaults.
     *
     * @param parameters parameters to optimize
     */
    public RMSprop(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * Creates the optimizer with a learning rate and PyTorch's other defaults.
     *
     * @param parameters parameters to optimize
     * @param lr learning rate
     */
    public RMSprop(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * Creates the optimizer with options.
     *
     * @param parameters parameters to optimize
     * @param options the options
     */
    public RMSprop(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * Creates the optimizer with parameter groups.
     *
     * @param options options of the groups without their own options
     * @param groups parameter groups to optimize
     */
    public RMSprop(Options options, ParameterGroup... groups) {
        super(options, groups);
    }

    @Override
    protected Map<String, StateKind> stateKinds(int index, Tensor parameter) {
        StateKind like = StateKind.like(parameter);
        return Map.of("step", StateKind.STEP, "square_avg", like, "momentum_buffer", like, "grad_avg", like);
    }

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        countSteps(which);
        Tensor[] squares = zeros(which, "square_avg", values);
        Tensor[] buffers = options.momentum > 0 ? zeros(which, "momentum_buffer", values) : new Tensor[0];
        Tensor[] means = options.centered ? zeros(which, "grad_avg", values) : new Tensor[0];
        Torch._fusedRmsprop_(values, grads, squares, means, buffers, options.lr(), options.alpha, options.eps, options.weightDecay,
            options.momentum, options.centered, options.maximize);
    }
}
