package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code x}, held between 0 and 6.
 *
 * <pre>{@code
 * System.out.println(new ReLU6().forward(Tensor.of(-1f, 0.5f, 9f))); // tensor([0.0000, 0.5000, 6.0000])
 * }</pre>
 */
public final class ReLU6 extends Module {
    private final Options options;

    /** What a ReLU6 does. Immutable: each {@code with} returns a changed copy. */
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
    public ReLU6() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public ReLU6(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.relu6(input, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().namedIf(options.inplace, "inplace", true).toString();
    }
}
