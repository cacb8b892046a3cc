package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Zero between {@code -lambda} and {@code lambda}.
 *
 * <pre>{@code
 * System.out.println(new Hardshrink().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-1.,  0.,  2.])
 * }</pre>
 */
public final class Hardshrink extends Module {
    private final Options options;

    /** What a Hardshrink does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double lambda = 0.5;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets lambda: bound.
         *
         * @param value bound
         * @return the changed options
         */
        public Options withLambda(double value) {
            return with(options -> options.lambda = value);
        }
    }

    /** The layer with the defaults. */
    public Hardshrink() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param lambda bound
     */
    public Hardshrink(double lambda) {
        this(new Options().withLambda(lambda));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
