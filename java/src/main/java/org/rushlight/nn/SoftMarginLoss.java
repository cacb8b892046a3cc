package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * {@code log(1 + exp(-y x))}.
 *
 * <pre>{@code
 * Tensor loss = new SoftMarginLoss().forward(Tensor.of(0.5f, 0.5f), Tensor.of(1f, -1f));
 * System.out.println(loss); // tensor(0.7241)
 * }</pre>
 */
public final class SoftMarginLoss extends Loss {
    private final Options options;

    /** What a SoftMarginLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

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
    public SoftMarginLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
     */
    public SoftMarginLoss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.softMarginLoss(input, target, options.reduction);
    }
}
