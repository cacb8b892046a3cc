package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies ReLU6 element-wise: {@code min(max(0, x), 6)}.
 *
 * <pre>{@code
 * System.out.println(new ReLU6().forward(Tensor.of(-1f, 0.5f, 9f))); // tensor([0.0000, 0.5000, 6.0000])
 * }</pre>
 */
public final class ReLU6 extends Module {
    private final Options options;

    /** Options of {@link ReLU6}. Immutable: each {@code with} method returns a changed copy. */
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
    public ReLU6() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
