package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code x}, moved towards zero by lambda.
 *
 * <pre>{@code
 * System.out.println(new Softshrink().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.5000,  0.0000,  1.5000])
 * }</pre>
 */
public final class Softshrink extends Module {
    private final Options options;

    /** What a Softshrink does. Immutable: each {@code with} returns a changed copy. */
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
    public Softshrink() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param lambda bound
     */
    public Softshrink(double lambda) {
        this(new Options().withLambda(lambda));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
