package org.rushlight.optim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Stochastic gradient descent, with momentum.
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requires_grad_(true);
 * try (SGD optimizer = new SGD(List.of(w), new SGD.Options(0.1).withMomentum(0.9))) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.8000])
 * }
 * }</pre>
 */
public final class SGD extends OptionedOptimizer<SGD.Options> {
    private static final String BUFFER = "momentum_buffer";

    /** What a step does. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        double momentum = 0;
        double dampening = 0;
        double weightDecay = 0;
        boolean nesterov = false;
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
         * Sets momentum: share of the last step that is repeated.
         *
         * @param value share of the last step that is repeated
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return with(options -> options.momentum = value);
        }

        /**
         * Sets dampening: share of the gradient that momentum leaves out.
         *
         * @param value share of the gradient that momentum leaves out
         * @return the changed options
         */
        public Options withDampening(double value) {
            return with(options -> options.dampening = value);
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
         * Sets nesterov: look ahead along the momentum.
         *
         * @param value look ahead along the momentum
         * @return the changed options
         */
        public Options withNesterov(boolean value) {
            return with(options -> options.nesterov = value);
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
            check(momentum >= 0, "Invalid momentum value: ", momentum);
            check(weightDecay >= 0, "Invalid weight_decay value: ", weightDecay);
            check(
                !nesterov || momentum > 0 && dampening == 0, "Nesterov momentum requires a momentum and zero dampening", "");
        }

        @Override
        protected void exchange(Values values) {
            momentum = values.of("momentum", momentum);
            dampening = values.of("dampening", dampening);
            weightDecay = values.of("weight_decay", weightDecay);
            nesterov = values.of("nesterov", nesterov);
            maximize = values.of("maximize", maximize);
        }
    }

    /**
     * With PyTorch's defaults.
     *
     * @param parameters what to train
     */
    public SGD(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * With a learning rate and PyTorch's other defaults.
     *
     * @param parameters what to train
     * @param lr learning rate
     */
    public SGD(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * With options.
     *
     * @param parameters what to train
     * @param options what a step does
     */
    public SGD(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * With groups of parameters.
     *
     * @param options what a step does with groups that have no options of their own
     * @param groups what to train
     */
    public SGD(Options options, ParameterGroup... groups) {
        super(options, groups);
    }

    @Override
    protected Map<String, StateKind> stateKinds(int index, Tensor parameter) {
        return Map.of(BUFFER, StateKind.like(parameter));
    }

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        if (options.momentum == 0) {
            fused(options, values, grads, new Tensor[0], false);
            return;
        }
        // A parameter that gets its first gradient now has no buffer yet: the operator fills those of a first step.
        List<Integer> fresh = new ArrayList<>();
        List<Integer> known = new ArrayList<>();
        for (int i = 0; i < which.size(); i++) {
            boolean first = !stateOf(which.get(i)).containsKey(BUFFER);
            (first ? fresh : known).add(i);
            if (first) {
                keep(which.get(i), BUFFER, Torch.empty_like(values[i]));
            }
        }
        part(options, which, fresh, values, grads, true);
        part(options, which, known, values, grads, false);
    }

    private void part(Options options, List<Integer> which, List<Integer> chosen, Tensor[] values, Tensor[] grads, boolean first) {
        if (!chosen.isEmpty()) {
            Tensor[] buffers = gather(chosen.stream().map(which::get).toList(), BUFFER);
            fused(options, pick(values, chosen), pick(grads, chosen), buffers, first);
        }
    }

    private static Tensor[] pick(Tensor[] from, List<Integer> chosen) {
        return chosen.stream().map(i -> from[i]).toArray(Tensor[]::new);
    }

    private static void fused(Options options, Tensor[] values, Tensor[] grads, Tensor[] buffers, boolean first) {
        Torch._fused_sgd_(values, grads, buffers, options.weightDecay, options.momentum, options.lr(), options.dampening,
            options.nesterov, options.maximize, first);
    }
}
