package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Divides by a power of the mean square of neighbouring channels.
 *
 * <pre>{@code
 * Tensor y = new LocalResponseNorm(2).forward(Torch.ones(1, 4, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 4, 8, 8]
 * }</pre>
 */
public final class LocalResponseNorm extends Module {
    private final Options options;

    /** What a LocalResponseNorm does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long size;
        double alpha = 1e-4;
        double beta = 0.75;
        double k = 1;

        /**
         * The defaults of PyTorch.
         *
         * @param size how many channels
         */
        public Options(long size) {
            this.size = size;
        }

        /**
         * Sets alpha: factor of the mean square.
         *
         * @param value factor of the mean square
         * @return the changed options
         */
        public Options withAlpha(double value) {
            return with(options -> options.alpha = value);
        }

        /**
         * Sets beta: the power.
         *
         * @param value the power
         * @return the changed options
         */
        public Options withBeta(double value) {
            return with(options -> options.beta = value);
        }

        /**
         * Sets k: added to it.
         *
         * @param value added to it
         * @return the changed options
         */
        public Options withK(double value) {
            return with(options -> options.k = value);
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param size how many channels
     */
    public LocalResponseNorm(long size) {
        this(new Options(size));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
