package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code log(1 + exp(beta x)) / beta}.
 *
 * <pre>{@code
 * System.out.println(new Softplus().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.3133, 0.9741, 2.1269])
 * }</pre>
 */
public final class Softplus extends Module {
    private final Options options;

    /** What a Softplus does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double beta = 1;
        double threshold = 20;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets beta: factor of the input.
         *
         * @param value factor of the input
         * @return the changed options
         */
        public Options withBeta(double value) {
            return with(options -> options.beta = value);
        }

        /**
         * Sets threshold: where beta x is larger, the result is x.
         *
         * @param value where beta x is larger, the result is x
         * @return the changed options
         */
        public Options withThreshold(double value) {
            return with(options -> options.threshold = value);
        }
    }

    /** The layer with the defaults. */
    public Softplus() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param beta factor of the input
     * @param threshold where beta x is larger, the result is x
     */
    public Softplus(double beta, double threshold) {
        this(new Options().withBeta(beta).withThreshold(threshold));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
