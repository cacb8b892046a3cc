package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code max(x, 0)}, element by element.
 *
 * <pre>{@code
 * System.out.println(new ReLU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.0000, 0.5000, 2.0000])
 * }</pre>
 */
public final class ReLU extends Module {
    private final Options options;

    /** What a ReLU does. Immutable: each {@code with} returns a changed copy. */
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
    public ReLU() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public ReLU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.relu(input, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().namedIf(options.inplace, "inplace", true).toString();
    }
}
