package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the Kullback-Leibler divergence; the input holds log probabilities.
 *
 * <pre>{@code
 * Tensor loss = new KLDivLoss().forward(Tensor.of(0.5f, 0.5f).log(), Tensor.of(0.9f, 0.1f));
 * System.out.println(loss); // tensor(0.1840)
 * }</pre>
 */
public final class KLDivLoss extends Loss {
    private final Options options;

    /** Options of {@link KLDivLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        Reduction reduction = Reduction.MEAN;
        boolean logTarget = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets reduction: a value of {@link Reduction} (default {@code MEAN}).
         *
         * @param value a value of {@link Reduction} (default {@code MEAN})
         * @return the changed options
         */
        public Options withReduction(Reduction value) {
            return with(options -> options.reduction = value);
        }

        /**
         * Sets logTarget: whether the target also holds log probabilities (default false).
         *
         * @param value whether the target also holds log probabilities (default false)
         * @return the changed options
         */
        public Options withLogTarget(boolean value) {
            return with(options -> options.logTarget = value);
        }
    }

    /** Creates the loss with default options. */
    public KLDivLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public KLDivLoss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.klDiv(input, target, options.reduction, options.logTarget);
    }
}
