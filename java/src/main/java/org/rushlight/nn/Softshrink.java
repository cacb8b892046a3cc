package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies soft shrinkage element-wise: moves {@code x} towards zero by {@code lambda}.
 *
 * <pre>{@code
 * System.out.println(new Softshrink().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.5000,  0.0000,  1.5000])
 * }</pre>
 */
public final class Softshrink extends Module {
    private final Options options;

    /** Options of {@link Softshrink}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double lambda = 0.5;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets lambda: threshold {@code lambda} (default 0.5).
         *
         * @param value threshold {@code lambda} (default 0.5)
         * @return the changed options
         */
        public Options withLambda(double value) {
            return with(options -> options.lambda = value);
        }
    }

    /** Creates the layer with default options. */
    public Softshrink() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param lambda threshold {@code lambda} (default 0.5)
     */
    public Softshrink(double lambda) {
        this(new Options().withLambda(lambda));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Softshrink(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.softshrink(input, options.lambda);
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.lambda).toString();
    }
}
