package org.rushlight.optim;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/** Adam: steps scaled by running means of the gradient and of its square (Kingma and Ba 2014). */
public final class Adam extends Optimizer {
    /** What a step does. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        double beta1 = 0.9;
        double beta2 = 0.999;
        double eps = 1e-8;
        double weightDecay = 0;
        boolean amsgrad = false;
        boolean maximize = false;

        /** The defaults of PyTorch: a learning rate of 1e-3. */
        public Options() {
            this(1e-3);
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
         * Sets beta1: how much of the mean gradient stays at each step.
         *
         * @param value how much of the mean gradient stays at each step
         * @return the changed options
         */
        public Options withBeta1(double value) {
            return with(options -> options.beta1 = value);
        }

        /**
         * Sets beta2: how much of the mean square stays at each step.
         *
         * @param value how much of the mean square stays at each step
         * @return the changed options
         */
        public Options withBeta2(double value) {
            return with(options -> options.beta2 = value);
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
         * Sets amsgrad: use the highest mean square so far.
         *
         * @param value use the highest mean square so far
         * @return the changed options
         */
        public Options withAmsgrad(boolean value) {
            return with(options -> options.amsgrad = value);
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
            return beta1;
        }

        @Override
        Options withMomentumOrBeta(double value) {
            return withBeta1(value);
        }

        @Override
        protected void check() {
            super.check();
            check(eps >= 0, "Invalid epsilon value: ", eps);
            check(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: ", beta1);
            check(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: ", beta2);
            check(weightDecay >= 0, "Invalid weight_decay value: ", weightDecay);
        }

        @Override
        protected Map<String, Double> values() {
            Map<String, Double> all = new LinkedHashMap<>();
            all.put("lr", lr);
            all.put("beta1", beta1);
            all.put("beta2", beta2);
            all.put("eps", eps);
            all.put("weight_decay", weightDecay);
            all.put("amsgrad", amsgrad ? 1.0 : 0.0);
            all.put("maximize", maximize ? 1.0 : 0.0);
            return all;
        }
    }

    /**
     * With PyTorch's defaults.
     *
     * @param parameters what to train
     */
    public Adam(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * With a learning rate and PyTorch's other defaults.
     *
     * @param parameters what to train
     * @param lr learning rate
     */
    public Adam(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * With options.
     *
     * @param parameters what to train
     * @param options what a step does
     */
    public Adam(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * With groups of parameters.
     *
     * @param options what a step does with groups that have no options of their own
     * @param groups what to train
     */
    public Adam(Options options, ParameterGroup... groups) {
        super(options, groups);
    }

    /**
     * What a step does, in the first group.
     *
     * @return the options
     */
    public Options options() {
        return (Options) parameterGroups().get(0).options();
    }

    /**
     * Changes what a step does, in every group.
     *
     * @param options the new options
     */
    public void setOptions(Options options) {
        parameterGroups().forEach(group -> group.setOptions(options));
    }

    @Override
    protected void update(OptimizerOptions<?> given, List<Integer> which, Tensor[] values, Tensor[] grads) {
        Options options = (Options) given;
        Tensor[] steps = countSteps(which);
        for (int i = 0; i < values.length; i++) {
            zeros(which.get(i), "exp_avg", values[i]);
            zeros(which.get(i), "exp_avg_sq", values[i]);
            if (options.amsgrad) {
                zeros(which.get(i), "max_exp_avg_sq", values[i]);
            }
        }
        Tensor[] maxima = options.amsgrad ? gather(which, "max_exp_avg_sq") : new Tensor[0];
        Torch._fused_adam_(values, grads, gather(which, "exp_avg"), gather(which, "exp_avg_sq"), maxima, steps, options.lr(), options.beta1,
            options.beta2, options.weightDecay, options.eps, options.amsgrad, options.maximize);
    }
}
