package org.rushlight.optim;

/**
 * What a step of {@link Adam} and {@link AdamW} does.
 *
 * @param <O> the options themselves
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
     * Sets beta1: how much of the mean gradient stays at each step.
     *
     * @param value how much of the mean gradient stays at each step
     * @return the changed options
     */
    public O withBeta1(double value) {
        return with(options -> options.beta1 = value);
    }

    /**
     * Sets beta2: how much of the mean square stays at each step.
     *
     * @param value how much of the mean square stays at each step
     * @return the changed options
     */
    public O withBeta2(double value) {
        return with(options -> options.beta2 = value);
    }

    /**
     * Sets eps: added to the root of the mean square.
     *
     * @param value added to the root of the mean square
     * @return the changed options
     */
    public O withEps(double value) {
        return with(options -> options.eps = value);
    }

    /**
     * Sets amsgrad: use the highest mean square so far.
     *
     * @param value use the highest mean square so far
     * @return the changed options
     */
    public O withAmsgrad(boolean value) {
        return with(options -> options.amsgrad = value);
    }

    /**
     * Sets maximize: climb instead of descending.
     *
     * @param value climb instead of descending
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
