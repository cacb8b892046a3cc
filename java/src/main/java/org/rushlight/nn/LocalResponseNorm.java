package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies local response normalization over neighbouring channels.
 *
 * <pre>{@code
 * Tensor y = new LocalResponseNorm(2).forward(Torch.ones(1, 4, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 4, 8, 8]
 * }</pre>
 */
public final class LocalResponseNorm extends Module {
    private final Options options;

    /** Options of {@link LocalResponseNorm}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long size;
        double alpha = 1e-4;
        double beta = 0.75;
        double k = 1;

        /**
         * Creates PyTorch's default options.
         *
         * @param size number of channels of the window
         */
        public Options(long size) {
            this.size = size;
        }

        /**
         * Sets alpha: factor of the mean of squares (default 1e-4).
         *
         * @param value factor of the mean of squares (default 1e-4)
         * @return the changed options
         */
        public Options withAlpha(double value) {
            return with(options -> options.alpha = value);
        }

        /**
         * Sets beta: exponent (default 0.75).
         *
         * @param value exponent (default 0.75)
         * @return the changed options
         */
        public Options withBeta(double value) {
            return with(options -> options.beta = value);
        }

        /**
         * Sets k: additive constant (default 1).
         *
         * @param value additive constant (default 1)
         * @return the changed options
         */
        public Options withK(double value) {
            return with(options -> options.k = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param size number of channels of the window
     */
    public LocalResponseNorm(long size) {
        this(new Options(size));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public LocalResponseNorm(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.localResponseNorm(input, options.size, options.alpha, options.beta, options.k);
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.size).named("alpha", options.alpha).named("beta", options.beta).named("k", options.k).toString();
    }
}
