package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the binary cross-entropy of {@code sigmoid(input)}, averaged over the classes.
 *
 * <pre>{@code
 * Tensor loss = new MultiLabelSoftMarginLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(new float[][] {{1, 0, 1}}));
 * System.out.println(loss); // tensor(0.5044)
 * }</pre>
 */
public final class MultiLabelSoftMarginLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** Options of {@link MultiLabelSoftMarginLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets weight: weight of each class.
         *
         * @param value weight of each class
         * @return the changed options
         */
        public Options withWeight(Tensor value) {
            return with(options -> options.weight = value);
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
    public MultiLabelSoftMarginLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
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
