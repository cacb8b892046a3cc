package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Returns {@code x} where {@code x > threshold}, and a constant elsewhere.
 *
 * <pre>{@code
 * System.out.println(new Threshold(1, -5).forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-5., -5.,  2.])
 * }</pre>
 */
public final class Threshold extends Module {
    private final Options options;

    /** Options of {@link Threshold}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final double threshold;
        final double value;
        boolean inplace = false;

        /**
         * Creates PyTorch's default options.
         *
         * @param threshold the threshold
         * @param value replacement for the other elements
         */
        public Options(double threshold, double value) {
            this.threshold = threshold;
            this.value = value;
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

    /**
     * Creates the layer with default options.
     *
     * @param threshold the threshold
     * @param value replacement for the other elements
     */
    public Threshold(double threshold, double value) {
        this(new Options(threshold, value));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
