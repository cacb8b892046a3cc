package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies CELU element-wise: {@code max(0, x) + min(0, alpha (exp(x / alpha) - 1))}.
 *
 * <pre>{@code
 * System.out.println(new CELU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.6321,  0.5000,  2.0000])
 * }</pre>
 */
public final class CELU extends Module {
    private final Options options;

    /** Options of {@link CELU}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double alpha = 1;
        boolean inplace = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets alpha: factor {@code alpha} (default 1).
         *
         * @param value factor {@code alpha} (default 1)
         * @return the changed options
         */
        public Options withAlpha(double value) {
            return with(options -> options.alpha = value);
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
    public CELU() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param alpha factor {@code alpha} (default 1)
     */
    public CELU(double alpha) {
        this(new Options().withAlpha(alpha));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public CELU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.celu(input, options.alpha, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("alpha", options.alpha).namedIf(options.inplace, "inplace", true).toString();
    }
}
