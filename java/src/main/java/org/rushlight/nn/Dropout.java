package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * In training, sets each element to zero with probability {@code p} and multiplies the others by {@code 1 / (1 - p)}.
 *
 * <pre>{@code
 * Torch.manualSeed(0);
 * System.out.println(new Dropout(0.5).forward(Torch.ones(6))); // tensor([0., 0., 2., 0., 0., 0.])
 * }</pre>
 */
public final class Dropout extends Module {
    private final Options options;

    /** Options of {@link Dropout}. Immutable: each {@code with} method returns a changed copy. */
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
    public Dropout() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param p probability of an element to be zeroed (default 0.5)
     */
    public Dropout(double p) {
        this(new Options().withP(p));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Dropout(Options options) {
        Functional.checkProbability(options.p);
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.dropout(input, options.p, isTraining(), options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("p", options.p).named("inplace", options.inplace).toString();
    }
}
