package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the negative log likelihood of Poisson-distributed targets.
 *
 * <pre>{@code
 * Tensor loss = new PoissonNLLLoss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(0.5537)
 * }</pre>
 */
public final class PoissonNLLLoss extends Loss {
    private final Options options;

    /** Options of {@link PoissonNLLLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        boolean logInput = true;
        boolean full = false;
        double eps = 1e-8;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets logInput: whether the input is the logarithm of the rate (default true).
         *
         * @param value whether the input is the logarithm of the rate (default true)
         * @return the changed options
         */
        public Options withLogInput(boolean value) {
            return with(options -> options.logInput = value);
        }

        /**
         * Sets full: whether to add the Stirling approximation (default false).
         *
         * @param value whether to add the Stirling approximation (default false)
         * @return the changed options
         */
        public Options withFull(boolean value) {
            return with(options -> options.full = value);
        }

        /**
         * Sets eps: term that avoids {@code log(0)} (default 1e-8).
         *
         * @param value term that avoids {@code log(0)} (default 1e-8)
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets reduction: a value of {@link Reduction} (default {@code MEAN}).
         *
         * @param value a value of {@link Reduction} (default {@code MEAN})
         * @return the changed options
         */
        public Options withReduction(Reduction value) {
            return with(options -> options.reduction = value);
        }
    }

    /** Creates the loss with default options. */
    public PoissonNLLLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public PoissonNLLLoss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.poissonNllLoss(input, target, options.logInput, options.full, options.eps, options.reduction);
    }
}
