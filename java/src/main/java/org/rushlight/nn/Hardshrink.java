package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies hard shrinkage element-wise: 0 where {@code |x| <= lambda}, else {@code x}.
 *
 * <pre>{@code
 * System.out.println(new Hardshrink().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-1.,  0.,  2.])
 * }</pre>
 */
public final class Hardshrink extends Module {
    private final Options options;

    /** Options of {@link Hardshrink}. Immutable: each {@code with} method returns a changed copy. */
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
    public Hardshrink() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param lambda threshold {@code lambda} (default 0.5)
     */
    public Hardshrink(double lambda) {
        this(new Options().withLambda(lambda));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Hardshrink(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.hardshrink(input, options.lambda);
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.lambda).toString();
    }
}
