package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code x}, or a part of it below zero.
 *
 * <pre>{@code
 * System.out.println(new LeakyReLU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.0100,  0.5000,  2.0000])
 * }</pre>
 */
public final class LeakyReLU extends Module {
    private final Options options;

    /** What a LeakyReLU does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double negativeSlope = 0.01;
        boolean inplace = false;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets negativeSlope: factor of negative elements.
         *
         * @param value factor of negative elements
         * @return the changed options
         */
        public Options withNegativeSlope(double value) {
            return with(options -> options.negativeSlope = value);
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
    public LeakyReLU() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param negativeSlope factor of negative elements
     */
    public LeakyReLU(double negativeSlope) {
        this(new Options().withNegativeSlope(negativeSlope));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
