package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Negative log likelihood of counts.
 *
 * <pre>{@code
 * Tensor loss = new PoissonNLLLoss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(0.5537)
 * }</pre>
 */
public final class PoissonNLLLoss extends Loss {
    private final Options options;

    /** What a PoissonNLLLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        boolean logInput = true;
        boolean full = false;
        double eps = 1e-8;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets logInput: the input is a logarithm.
         *
         * @param value the input is a logarithm
         * @return the changed options
         */
        public Options withLogInput(boolean value) {
            return with(options -> options.logInput = value);
        }

        /**
         * Sets full: add Stirling's term.
         *
         * @param value add Stirling's term
         * @return the changed options
         */
        public Options withFull(boolean value) {
            return with(options -> options.full = value);
        }

        /**
         * Sets eps: added to the input before its logarithm.
         *
         * @param value added to the input before its logarithm
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets reduction: one of {@link Reduction}.
         *
         * @param value one of {@link Reduction}
         * @return the changed options
         */
        public Options withReduction(long value) {
            return with(options -> options.reduction = value);
        }
    }

    /** The loss with the defaults. */
    public PoissonNLLLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
