package org.rushlight.optim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Implements stochastic gradient descent, optionally with momentum.
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requiresGrad_(true);
 * try (SGD optimizer = new SGD(List.of(w), new SGD.Options(0.1).withMomentum(0.9))) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.8000])
 * }
 * }</pre>
 */
public final class SGD extends OptionedOptimizer<SGD.Options> {
    private static final String BUFFER = "momentum_buffer";

    /** Options of the optimizer. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        double momentum = 0;
        double dampening = 0;
        double weightDecay = 0;
        boolean nesterov = false;
        boolean maximize = false;

        /** Creates PyTorch's default options, with a learning rate of 1e-3. */
        public Options() {
            this(1e-3);
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
         * Sets momentum: momentum factor (default 0).
         *
         * @param value momentum factor (default 0)
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return with(options -> options.momentum = value);
        }

        /**
         * Sets dampening: dampening of the momentum (default 0).
         *
         * @param value dampening of the momentum (default 0)
         * @return the changed options
         */
        public Options withDampening(double value) {
            return with(options -> options.dampening = value);
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
         * Sets nesterov: whether to use Nesterov momentum (default false).
         *
         * @param value whether to use Nesterov momentum (default false)
         * @return the changed options
         */
        public Options withNesterov(boolean value) {
            return with(options -> options.nesterov = value);
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
     * Creates the optimizer with PyTorch's defaults.
     *
     * @param parameters parameters to optimize
     */
    public SGD(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * Creates the optimizer with a learning rate and PyTorch's other defaults.
     *
     * @param parameters parameters to optimize
     * @param lr learning rate
     */
    public SGD(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * Creates the optimizer with options.
     *
     * @param parameters parameters to optimize
     * @param options the options
     */
    public SGD(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * Creates the optimizer with parameter groups.
     *
     * @param options options of the groups without their own options
     * @param groups parameter groups to optimize
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
        // A parameter with its first gradient has no momentum buffer yet: the operator initializes it in its first step.
        List<Integer> fresh = new ArrayList<>();
        List<Integer> known = new ArrayList<>();
        for (int i = 0; i < which.size(); i++) {
            boolean first = !stateOf(which.get(i)).containsKey(BUFFER);
            (first ? fresh : known).add(i);
            if (first) {
                keep(which.get(i), BUFFER, Torch.emptyLike(values[i]));
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
        Torch._fusedSgd_(values, grads, buffers, options.weightDecay, options.momentum, options.lr(), options.dampening,
            options.nesterov, options.maximize, first);
    }
}
