package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code x}, or {@code alpha (exp(x) - 1)} below zero.
 *
 * <pre>{@code
 * System.out.println(new ELU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.6321,  0.5000,  2.0000])
 * }</pre>
 */
public final class ELU extends Module {
    private final Options options;

    /** What a ELU does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double alpha = 1;
        boolean inplace = false;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets alpha: factor of exp(x) - 1.
         *
         * @param value factor of exp(x) - 1
         * @return the changed options
         */
        public Options withAlpha(double value) {
            return with(options -> options.alpha = value);
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
    public ELU() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param alpha factor of exp(x) - 1
     */
    public ELU(double alpha) {
        this(new Options().withAlpha(alpha));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public ELU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.elu(input, options.alpha, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("alpha", options.alpha).namedIf(options.inplace, "inplace", true).toString();
    }
}
