package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * ELU with constants that keep mean and variance.
 *
 * <pre>{@code
 * System.out.println(new SELU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-1.1113,  0.5254,  2.1014])
 * }</pre>
 */
public final class SELU extends Module {
    private final Options options;

    /** What a SELU does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        boolean inplace = false;

        /** The defaults of PyTorch. */
        public Options() {}

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
    public SELU() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public SELU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.selu(input, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().namedIf(options.inplace, "inplace", true).toString();
    }
}
