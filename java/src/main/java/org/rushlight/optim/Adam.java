package org.rushlight.optim;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Adam: steps scaled by running means of the gradient and of its square. */
public final class Adam extends Optimizer {
    private static final String STEP = "step";
    private static final String MEAN = "exp_avg";
    private static final String SQUARE = "exp_avg_sq";
    private static final String MAX = "max_exp_avg_sq";

    private Options options;

    /**
     * What a step does.
     *
     * @param lr learning rate
     * @param beta1 how much of the mean gradient stays at each step
     * @param beta2 how much of the mean square stays at each step
     * @param eps added to the root of the mean square
     * @param weightDecay share of the parameter that is added to its gradient
     * @param amsgrad use the highest mean square so far
     * @param maximize climb instead of descending
     */
    public record Options(
            double lr, double beta1, double beta2, double eps, double weightDecay, boolean amsgrad, boolean maximize) {
        /** Checks the ranges. */
        public Options {
            check(lr >= 0, "Invalid learning rate: " + lr);
            check(eps >= 0, "Invalid epsilon value: " + eps);
            check(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: " + beta1);
            check(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: " + beta2);
            check(weightDecay >= 0, "Invalid weight_decay value: " + weightDecay);
        }

        /**
         * PyTorch's defaults with a learning rate.
         *
         * @param lr learning rate
         */
        public Options(double lr) {
            this(lr, 0.9, 0.999, 1e-8, 0, false, false);
        }

        private static void check(boolean fine, String message) {
            if (!fine) {
                throw new TensorValueException(message);
            }
        }

        /**
         * Sets the learning rate.
         *
         * @param value learning rate
         * @return the changed options
         */
        public Options withLr(double value) {
            return new Options(value, beta1, beta2, eps, weightDecay, amsgrad, maximize);
        }

        /**
         * Sets the weight decay.
         *
         * @param value share of the parameter that is added to its gradient
         * @return the changed options
         */
        public Options withWeightDecay(double value) {
            return new Options(lr, beta1, beta2, eps, value, amsgrad, maximize);
        }

        /**
         * Sets the AMSGrad variant.
         *
         * @param value use the highest mean square so far
         * @return the changed options
         */
        public Options withAmsgrad(boolean value) {
            return new Options(lr, beta1, beta2, eps, weightDecay, value, maximize);
        }
    }

    /**
     * Adam with PyTorch's defaults.
     *
     * @param parameters what to train
     * @param lr learning rate
     */
    public Adam(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * Adam with options.
     *
     * @param parameters what to train
     * @param options what a step does
     */
    public Adam(List<Tensor> parameters, Options options) {
        super(parameters);
        this.options = options;
    }

    /**
     * What a step does.
     *
     * @return the options
     */
    public Options options() {
        return options;
    }

    /**
     * Changes what a step does, as a schedule does with the learning rate.
     *
     * @param options the new options
     */
    public void setOptions(Options options) {
        this.options = options;
    }

    @Override
    void update(List<Integer> which, Tensor[] values, Tensor[] grads) {
        for (int i = 0; i < values.length; i++) {
            int index = which.get(i);
            if (!stateOf(index).containsKey(STEP)) {
                keep(index, STEP, Tensor.of(new float[] {0}, new long[0]));
                keep(index, MEAN, Torch.zeros_like(values[i]));
                keep(index, SQUARE, Torch.zeros_like(values[i]));
            }
            if (options.amsgrad() && !stateOf(index).containsKey(MAX)) {
                keep(index, MAX, Torch.zeros_like(values[i]));
            }
        }
        Tensor[] steps = gather(which, STEP);
        for (Tensor step : steps) {
            step.add_(1);
        }
        Tensor[] maxima = options.amsgrad() ? gather(which, MAX) : new Tensor[0];
        Torch._fused_adam_(values, grads, gather(which, MEAN), gather(which, SQUARE), maxima, steps, options.lr(), options.beta1(),
            options.beta2(), options.weightDecay(), options.eps(), options.amsgrad(), options.maximize());
    }
}
