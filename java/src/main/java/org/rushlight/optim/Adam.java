package org.rushlight.optim;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Implements Adam, which scales each step by running averages of the gradient and its square (Kingma and Ba 2014).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requiresGrad_(true);
 * try (Adam optimizer = new Adam(List.of(w), 0.1)) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.9000])
 * }
 * }</pre>
 */
public final class Adam extends AdamOptimizer<Adam.Options> {
    /** Options of the optimizer. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends AdamOptions<Options> {
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
            super(lr, 0);
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
    }

    /**
     * Creates the optimizer with PyTorch's defaults.
     *
     * @param parameters parameters to optimize
     */
    public Adam(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * Creates the optimizer with a learning rate and PyTorch's other defaults.
     *
     * @param parameters parameters to optimize
     * @param lr learning rate
     */
    public Adam(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * Creates the optimizer with options.
     *
     * @param parameters parameters to optimize
     * @param options the options
     */
    public Adam(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * Creates the optimizer with parameter groups.
     *
     * @param options options of the groups without their own options
     * @param groups parameter groups to optimize
     */
    public Adam(Options options, ParameterGroup... groups) {
        super(options, groups);
    }

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        Moments moments = moments(options, which, values);
        Torch._fusedAdam_(values, grads, moments.means(), moments.squares(), moments.maxima(), moments.steps(), options.lr(), options.beta1,
            options.beta2, options.weightDecay, options.eps, options.amsgrad, options.maximize);
    }
}
