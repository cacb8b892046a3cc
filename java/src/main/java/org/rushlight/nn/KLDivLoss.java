package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * The divergence of the target from the input, which is a logarithm.
 *
 * <pre>{@code
 * Tensor loss = new KLDivLoss().forward(Tensor.of(0.5f, 0.5f).log(), Tensor.of(0.9f, 0.1f));
 * System.out.println(loss); // tensor(0.1840)
 * }</pre>
 */
public final class KLDivLoss extends Loss {
    private final Options options;
    /** The sum divided by the size of the batch, as {@code reduction}. */
    public static final long BATCH_MEAN = 3;

    /** What a KLDivLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long reduction = Reduction.MEAN;
        boolean logTarget = false;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets reduction: one of {@link Reduction}, or {@link #BATCH_MEAN}.
         *
         * @param value one of {@link Reduction}, or {@link #BATCH_MEAN}
         * @return the changed options
         */
        public Options withReduction(long value) {
            return with(options -> options.reduction = value);
        }

        /**
         * Sets logTarget: the target is a logarithm, too.
         *
         * @param value the target is a logarithm, too
         * @return the changed options
         */
        public Options withLogTarget(boolean value) {
            return with(options -> options.logTarget = value);
        }
    }

    /** The loss with the defaults. */
    public KLDivLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
