package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies alpha dropout, which preserves the mean and variance of the output of {@link SELU}.
 *
 * <pre>{@code
 * AlphaDropout layer = new AlphaDropout(0.2);
 * layer.eval(); // the identity in evaluation mode
 * System.out.println(layer.forward(Torch.ones(4)).sum()); // tensor(4.)
 * }</pre>
 */
public final class AlphaDropout extends Module {
    private final Options options;

    /** Options of {@link AlphaDropout}. Immutable: each {@code with} method returns a changed copy. */
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
    public AlphaDropout() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param p probability of an element to be zeroed (default 0.5)
     */
    public AlphaDropout(double p) {
        this(new Options().withP(p));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public AlphaDropout(Options options) {
        Functional.checkProbability(options.p);
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.alphaDropout(input, options.p, isTraining(), options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("p", options.p).named("inplace", options.inplace).toString();
    }
}
