package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies randomized leaky ReLU: the slope is random in training.
 *
 * <pre>{@code
 * RReLU activation = new RReLU();
 * activation.eval(); // uses the mean of the bounds
 * System.out.println(activation.forward(Tensor.of(-2.4f, 1f))); // tensor([-0.5500,  1.0000])
 * }</pre>
 */
public final class RReLU extends Module {
    private final Options options;

    /** Options of {@link RReLU}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double lower = 1.0 / 8;
        double upper = 1.0 / 3;
        boolean inplace = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets lower: lower bound of the slope (default 1/8).
         *
         * @param value lower bound of the slope (default 1/8)
         * @return the changed options
         */
        public Options withLower(double value) {
            return with(options -> options.lower = value);
        }

        /**
         * Sets upper: upper bound of the slope (default 1/3).
         *
         * @param value upper bound of the slope (default 1/3)
         * @return the changed options
         */
        public Options withUpper(double value) {
            return with(options -> options.upper = value);
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
    public RReLU() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param lower lower bound of the slope (default 1/8)
     * @param upper upper bound of the slope (default 1/3)
     */
    public RReLU(double lower, double upper) {
        this(new Options().withLower(lower).withUpper(upper));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public RReLU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.rrelu(input, options.lower, options.upper, isTraining(), options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("lower", options.lower).named("upper", options.upper).namedIf(options.inplace, "inplace", true).toString();
    }
}
