package org.rushlight.optim;

/**
 * Options of {@link Adam} and {@link AdamW}.
 *
 * @param <O> the type of the options itself
 */
abstract class AdamOptions<O extends AdamOptions<O>> extends OptimizerOptions<O> {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weightDecay;
    boolean amsgrad = false;
    boolean maximize = false;

    AdamOptions(double lr, double weightDecay) {
        super(lr);
        this.weightDecay = weightDecay;
    }

    /**
     * Sets beta1: decay rate of the running average of the gradient (default 0.9).
     *
     * @param value decay rate of the running average of the gradient (default 0.9)
     * @return the changed options
     */
    public O withBeta1(double value) {
        return with(options -> options.beta1 = value);
    }

    /**
     * Sets beta2: decay rate of the running average of the squared gradient.
     *
     * @param value decay rate of the running average of the squared gradient
     * @return the changed options
     */
    public O withBeta2(double value) {
        return with(options -> options.beta2 = value);
    }

    /**
     * Sets eps: term added to the denominator for numerical stability (default 1e-8).
     *
     * @param value term added to the denominator for numerical stability (default 1e-8)
     * @return the changed options
     */
    public O withEps(double value) {
        return with(options -> options.eps = value);
    }

    /**
     * Sets amsgrad: whether to use the AMSGrad variant (default false).
     *
     * @param value whether to use the AMSGrad variant (default false)
     * @return the changed options
     */
    public O withAmsgrad(boolean value) {
        return with(options -> options.amsgrad = value);
    }

    /**
     * Sets maximize: whether to maximize the objective (default false).
     *
     * @param value whether to maximize the objective (default false)
     * @return the changed options
     */
    public O withMaximize(boolean value) {
        return with(options -> options.maximize = value);
    }

    @Override
    Double momentumOrBeta() {
        return beta1;
    }

    @Override
    O withMomentumOrBeta(double value) {
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
    protected void exchange(Values values) {
        beta1 = values.of("beta1", beta1);
        beta2 = values.of("beta2", beta2);
        eps = values.of("eps", eps);
        weightDecay = values.of("weight_decay", weightDecay);
        amsgrad = values.of("amsgrad", amsgrad);
        maximize = values.of("maximize", maximize);
    }
}
