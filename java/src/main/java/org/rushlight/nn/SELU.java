package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies SELU element-wise: ELU with constants that preserve mean 0 and variance 1.
 *
 * <pre>{@code
 * System.out.println(new SELU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-1.1113,  0.5254,  2.1014])
 * }</pre>
 */
public final class SELU extends Module {
    private final Options options;

    /** Options of {@link SELU}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        boolean inplace = false;

        /** Creates PyTorch's default options. */
        public Options() {}

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
    public SELU() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
