package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the multi-label hinge loss between scores and target classes.
 *
 * <pre>{@code
 * Tensor loss = new MultiLabelMarginLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(new long[][] {{1, 2, -1}}));
 * System.out.println(loss); // tensor(2.)
 * }</pre>
 */
public final class MultiLabelMarginLoss extends Loss {
    private final Options options;

    /** Options of {@link MultiLabelMarginLoss}. Immutable: each {@code with} method returns a changed copy. */
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
    public MultiLabelMarginLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public MultiLabelMarginLoss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.multilabelMarginLoss(input, target, options.reduction);
    }
}
