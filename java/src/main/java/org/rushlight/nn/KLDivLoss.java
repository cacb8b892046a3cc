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
    /** A {@code reduction} that divides the sum by the batch size. */
    public static final long BATCH_MEAN = 3;

    /** Options of {@link KLDivLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long reduction = Reduction.MEAN;
        boolean logTarget = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets reduction: a value of {@link Reduction}, or {@link #BATCH_MEAN} (default {@code MEAN}).
         *
         * @param value a value of {@link Reduction}, or {@link #BATCH_MEAN} (default {@code MEAN})
         * @return the changed options
         */
        public Options withReduction(long value) {
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
