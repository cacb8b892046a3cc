package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies leaky ReLU element-wise: {@code max(0, x) + negativeSlope * min(0, x)}.
 *
 * <pre>{@code
 * System.out.println(new LeakyReLU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.0100,  0.5000,  2.0000])
 * }</pre>
 */
public final class LeakyReLU extends Module {
    private final Options options;

    /** Options of {@link LeakyReLU}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double negativeSlope = 0.01;
        boolean inplace = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets negativeSlope: slope for negative elements (default 0.01).
         *
         * @param value slope for negative elements (default 0.01)
         * @return the changed options
         */
        public Options withNegativeSlope(double value) {
            return with(options -> options.negativeSlope = value);
        }

        /**
         * Sets inplace: whether to overwrite the input (default false).
         *
         * @param value whether to overwrite the input (default false)
         * @return the changed options
         */
        public Options withInplace(boolean value) {
            return with(options -> options.inplace = value);
        }
    }

    /** Creates the layer with default options. */
    public LeakyReLU() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param negativeSlope slope for negative elements (default 0.01)
     */
    public LeakyReLU(double negativeSlope) {
        this(new Options().withNegativeSlope(negativeSlope));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public LeakyReLU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.leakyRelu(input, options.negativeSlope, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("negative_slope", options.negativeSlope).namedIf(options.inplace, "inplace", true).toString();
    }
}
