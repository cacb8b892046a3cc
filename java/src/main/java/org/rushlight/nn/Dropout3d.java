package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies dropout to whole channels of an input of shape {@code (N, C, D, H, W)}.
 *
 * <pre>{@code
 * Torch.manualSeed(0);
 * System.out.println(new Dropout3d(0.5).forward(Torch.ones(1, 4, 1, 1, 1)).flatten()); // tensor([0., 0., 2., 0.])
 * }</pre>
 */
public final class Dropout3d extends Module {
    private final Options options;

    /** Options of {@link Dropout3d}. Immutable: each {@code with} method returns a changed copy. */
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
    public Dropout3d() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param p probability of an element to be zeroed (default 0.5)
     */
    public Dropout3d(double p) {
        this(new Options().withP(p));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Dropout3d(Options options) {
        Functional.checkProbability(options.p);
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.dropout3d(input, options.p, isTraining(), options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("p", options.p).named("inplace", options.inplace).toString();
    }
}
