package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Cross entropy of the sigmoid of each class, as a mean over classes.
 *
 * <pre>{@code
 * Tensor loss = new MultiLabelSoftMarginLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(new float[][] {{1, 0, 1}}));
 * System.out.println(loss); // tensor(0.5044)
 * }</pre>
 */
public final class MultiLabelSoftMarginLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** What a MultiLabelSoftMarginLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets weight: a weight per class.
         *
         * @param value a weight per class
         * @return the changed options
         */
        public Options withWeight(Tensor value) {
            return with(options -> options.weight = value);
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
    public MultiLabelSoftMarginLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
     */
    public MultiLabelSoftMarginLoss(Options options) {
        this.options = options;
        weight = weight("weight", options.weight);
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.multilabelSoftMarginLoss(input, target, weight, options.reduction);
    }
}
