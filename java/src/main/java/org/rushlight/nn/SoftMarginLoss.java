package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the logistic loss {@code log(1 + exp(-target * input))}.
 *
 * <pre>{@code
 * Tensor loss = new SoftMarginLoss().forward(Tensor.of(0.5f, 0.5f), Tensor.of(1f, -1f));
 * System.out.println(loss); // tensor(0.7241)
 * }</pre>
 */
public final class SoftMarginLoss extends Loss {
    private final Options options;

    /** Options of {@link SoftMarginLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        Reduction reduction = Reduction.MEAN;

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
    }

    /** Creates the loss with default options. */
    public SoftMarginLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
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
