package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Leaky ReLU with random slopes while training.
 *
 * <pre>{@code
 * RReLU activation = new RReLU();
 * activation.eval(); // the mean of the slopes
 * System.out.println(activation.forward(Tensor.of(-2.4f, 1f))); // tensor([-0.5500,  1.0000])
 * }</pre>
 */
public final class RReLU extends Module {
    private final Options options;

    /** What a RReLU does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double lower = 1.0 / 8;
        double upper = 1.0 / 3;
        boolean inplace = false;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets lower: lower bound of the slope.
         *
         * @param value lower bound of the slope
         * @return the changed options
         */
        public Options withLower(double value) {
            return with(options -> options.lower = value);
        }

        /**
         * Sets upper: upper bound of the slope.
         *
         * @param value upper bound of the slope
         * @return the changed options
         */
        public Options withUpper(double value) {
            return with(options -> options.upper = value);
        }

        /**
         * Sets inplace: write over the input.
         *
         * @param value write over the input
         * @return the changed options
         */
        public Options withInplace(boolean value) {
            return with(options -> options.inplace = value);
        }
    }

    /** The layer with the defaults. */
    public RReLU() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param lower lower bound of the slope
     * @param upper upper bound of the slope
     */
    public RReLU(double lower, double upper) {
        this(new Options().withLower(lower).withUpper(upper));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
