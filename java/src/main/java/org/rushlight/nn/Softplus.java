package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies softplus element-wise: {@code log(1 + exp(beta x)) / beta}.
 *
 * <pre>{@code
 * System.out.println(new Softplus().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.3133, 0.9741, 2.1269])
 * }</pre>
 */
public final class Softplus extends Module {
    private final Options options;

    /** Options of {@link Softplus}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double beta = 1;
        double threshold = 20;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets beta: sharpness {@code beta} (default 1).
         *
         * @param value sharpness {@code beta} (default 1)
         * @return the changed options
         */
        public Options withBeta(double value) {
            return with(options -> options.beta = value);
        }

        /**
         * Sets threshold: value of {@code beta * x} above which the function is linear (default 20).
         *
         * @param value value of {@code beta * x} above which the function is linear (default 20)
         * @return the changed options
         */
        public Options withThreshold(double value) {
            return with(options -> options.threshold = value);
        }
    }

    /** Creates the layer with default options. */
    public Softplus() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param beta sharpness {@code beta} (default 1)
     * @param threshold value of {@code beta * x} above which the function is linear (default 20)
     */
    public Softplus(double beta, double threshold) {
        this(new Options().withBeta(beta).withThreshold(threshold));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Softplus(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.softplus(input, options.beta, options.threshold);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("beta", options.beta).named("threshold", options.threshold).toString();
    }
}
