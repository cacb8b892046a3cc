package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Dropout of whole channels of images.
 *
 * <pre>{@code
 * Torch.manualSeed(0);
 * System.out.println(new Dropout2d(0.5).forward(Torch.ones(1, 4, 1, 1)).flatten()); // tensor([0., 0., 2., 0.])
 * }</pre>
 */
public final class Dropout2d extends Module {
    private final Options options;

    /** What a Dropout2d does. Immutable: each {@code with} returns a changed copy. */
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
    public Dropout2d() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param p probability of an element to become zero
     */
    public Dropout2d(double p) {
        this(new Options().withP(p));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public Dropout2d(Options options) {
        Functional.checkProbability(options.p);
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.dropout2d(input, options.p, isTraining(), options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("p", options.p).named("inplace", options.inplace).toString();
    }
}
