package org.rushlight.optim;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * {@link Adam} with weight decay apart from the gradient (Loshchilov and Hutter 2017).
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requires_grad_(true);
 * try (AdamW optimizer = new AdamW(List.of(w), new AdamW.Options(0.1).withWeightDecay(0.01))) {
 *     w.mul(w).sum().backward();
 *     optimizer.step();
 *     System.out.println(w.detach()); // tensor([0.8990])
 * }
 * }</pre>
 */
public final class AdamW extends AdamOptimizer<AdamW.Options> {
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
            super(lr, 1e-2);
        }

        /**
         * Sets weightDecay: share of the parameter that is taken off at each step.
         *
         * @param value share of the parameter that is taken off at each step
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
    public AdamW(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * With a learning rate and PyTorch's other defaults.
     *
     * @param parameters what to train
     * @param lr learning rate
     */
    public AdamW(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * With options.
     *
     * @param parameters what to train
     * @param options what a step does
     */
    public AdamW(List<Tensor> parameters, Options options) {
        this(options, new ParameterGroup(parameters));
    }

    /**
     * With groups of parameters.
     *
     * @param options what a step does with groups that have no options of their own
     * @param groups what to train
     */
    public AdamW(Options options, ParameterGroup... groups) {
        super(options, groups);
    }

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        Moments moments = moments(options, which, values);
        Torch._fused_adamw_(values, grads, moments.means(), moments.squares(), moments.maxima(), moments.steps(), options.lr(), options.beta1,
            options.beta2, options.weightDecay, options.eps, options.amsgrad, options.maximize);
    }
}
