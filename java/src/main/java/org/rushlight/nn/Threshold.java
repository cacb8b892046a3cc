package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code x} where it is above the threshold, else a value.
 *
 * <pre>{@code
 * System.out.println(new Threshold(1, -5).forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-5., -5.,  2.])
 * }</pre>
 */
public final class Threshold extends Module {
    private final Options options;

    /** What a Threshold does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final double threshold;
        final double value;
        boolean inplace = false;

        /**
         * The defaults of PyTorch.
         *
         * @param threshold bound
         * @param value what stands in for other elements
         */
        public Options(double threshold, double value) {
            this.threshold = threshold;
            this.value = value;
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

    /**
     * The layer with the defaults.
     *
     * @param threshold bound
     * @param value what stands in for other elements
     */
    public Threshold(double threshold, double value) {
        this(new Options(threshold, value));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public Threshold(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.threshold(input, options.threshold, options.value, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("threshold", options.threshold).named("value", options.value).namedIf(options.inplace, "inplace", true).toString();
    }
}
