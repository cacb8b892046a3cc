package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Margins between scores of several target classes and those of others.
 *
 * <pre>{@code
 * Tensor loss = new MultiLabelMarginLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(new long[][] {{1, 2, -1}}));
 * System.out.println(loss); // tensor(2.)
 * }</pre>
 */
public final class MultiLabelMarginLoss extends Loss {
    private final Options options;

    /** What a MultiLabelMarginLoss does. Immutable: each {@code with} returns a changed copy. */
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
    public MultiLabelMarginLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
