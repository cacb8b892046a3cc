package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@link AlphaDropout} of whole channels.
 *
 * <pre>{@code
 * FeatureAlphaDropout layer = new FeatureAlphaDropout(0.2);
 * layer.eval(); // what is evaluated passes unchanged
 * System.out.println(layer.forward(Torch.ones(1, 4, 2)).sum()); // tensor(8.)
 * }</pre>
 */
public final class FeatureAlphaDropout extends Module {
    private final Options options;

    /** What a FeatureAlphaDropout does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double p = 0.5;
        boolean inplace = false;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets p: probability of an element to become zero.
         *
         * @param value probability of an element to become zero
         * @return the changed options
         */
        public Options withP(double value) {
            return with(options -> options.p = value);
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
    public FeatureAlphaDropout() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param p probability of an element to become zero
     */
    public FeatureAlphaDropout(double p) {
        this(new Options().withP(p));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public FeatureAlphaDropout(Options options) {
        Functional.checkProbability(options.p);
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.featureAlphaDropout(input, options.p, isTraining(), options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("p", options.p).named("inplace", options.inplace).toString();
    }
}
