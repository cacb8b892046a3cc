package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies {@link AlphaDropout} to whole channels.
 *
 * <pre>{@code
 * FeatureAlphaDropout layer = new FeatureAlphaDropout(0.2);
 * layer.eval(); // the identity in evaluation mode
 * System.out.println(layer.forward(Torch.ones(1, 4, 2)).sum()); // tensor(8.)
 * }</pre>
 */
public final class FeatureAlphaDropout extends Module {
    private final Options options;

    /** Options of {@link FeatureAlphaDropout}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double p = 0.5;
        boolean inplace = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets p: probability of an element to be zeroed (default 0.5).
         *
         * @param value probability of an element to be zeroed (default 0.5)
         * @return the changed options
         */
        public Options withP(double value) {
            return with(options -> options.p = value);
        }

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
    public FeatureAlphaDropout() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param p probability of an element to be zeroed (default 0.5)
     */
    public FeatureAlphaDropout(double p) {
        this(new Options().withP(p));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
