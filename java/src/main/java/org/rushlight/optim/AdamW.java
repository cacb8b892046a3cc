package org.rushlight.optim;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Implements {@link Adam} with decoupled weight decay (Loshchilov and Hutter 2017).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requiresGrad_(true);
 * try (AdamW optimizer = new AdamW(List.of(w), new AdamW.Options(0.1).withWeightDecay(0.01))) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.8990])
 * }
 * }</pre>
 */
public final class AdamW extends AdamOptimizer<AdamW.Options> {
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
            super(lr, 1e-2);
        }

        /**
         * Sets weightDecay: decoupled weight decay coefficient (default 1e-2).
         *
         * @param value decoupled weight decay coefficient (default 1e-2)
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
    public AdamW(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * Creates the optimizer with a learning rate and PyTorch's other defaults.
     *
     * @param parameters parameters to optimize
     * @param lr learning rate
     */
    public AdamW(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * Creates the optimizer with options.
     *
     * @param parameters parameters to optimize
     * @param options the options
     */
    public AdamW(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * Creates the optimizer with parameter groups.
     *
     * @param options options of the groups without their own options
     * @param groups parameter groups to optimize
     */
    public AdamW(Options options, ParameterGroup... groups) {
        super(options, groups);
    }

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        Moments moments = moments(options, which, values);
        Torch._fusedAdamw_(values, grads, moments.means(), moments.squares(), moments.maxima(), moments.steps(), options.lr(), options.beta1,
            options.beta2, options.weightDecay, options.eps, options.amsgrad, options.maximize);
    }
}
