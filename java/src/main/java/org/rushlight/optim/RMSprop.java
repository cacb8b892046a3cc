package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * RMSprop: gradients divided by a running root mean square (Hinton 2012).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requires_grad_(true);
 * try (RMSprop optimizer = new RMSprop(List.of(w), 0.05)) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.5000])
 * }
 * }</pre>
 */
public final class RMSprop extends OptionedOptimizer<RMSprop.Options> {
    /** What a step does. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        double alpha = 0.99;
        double eps = 1e-8;
        double weightDecay = 0;
        double momentum = 0;
        boolean centered = false;
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
         * Sets alpha: how much of the mean square stays at each step.
         *
         * @param value how much of the mean square stays at each step
         * @return the changed options
         */
        public Options withAlpha(double value) {
            return with(options -> options.alpha = value);
        }

        /**
         * Sets eps: added to the root of the mean square.
         *
         * @param value added to the root of the mean square
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
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
         * Sets momentum: share of the last step that is repeated.
         *
         * @param value share of the last step that is repeated
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return with(options -> options.momentum = value);
        }

        /**
         * Sets centered: divide by the deviation instead.
         *
         * @param value divide by the deviation instead
         * @return the changed options
         */
        public Options withCentered(boolean value) {
            return with(options -> options.centered = value);
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
     * With PyTorch's defaults.
     *
     * @param parameters what to train
     */
    public RMSprop(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * With a learning rate and PyTorch's other defaults.
     *
     * @param parameters what to train
     * @param lr learning rate
     */
    public RMSprop(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * With options.
     *
     * @param parameters what to train
     * @param options what a step does
     */
    public RMSprop(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * With groups of parameters.
     *
     * @param options what a step does with groups that have no options of their own
     * @param groups what to train
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
        Torch._fused_rmsprop_(values, grads, squares, means, buffers, options.lr(), options.alpha, options.eps, options.weightDecay,
            options.momentum, options.centered, options.maximize);
    }
}
