package org.rushlight.optim;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Adam: steps scaled by running means of the gradient and of its square (Kingma and Ba 2014).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requires_grad_(true);
 * try (Adam optimizer = new Adam(List.of(w), 0.1)) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.9000])
 * }
 * }</pre>
 */
public final class Adam extends AdamOptimizer<Adam.Options> {
    /** What a step does. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends AdamOptions<Options> {
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
            super(lr, 0);
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

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        Moments moments = moments(options, which, values);
        Torch._fused_adam_(values, grads, moments.means(), moments.squares(), moments.maxima(), moments.steps(), options.lr(), options.beta1,
            options.beta2, options.weightDecay, options.eps, options.amsgrad, options.maximize);
    }
}
