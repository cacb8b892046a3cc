package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the cross-entropy between logits and targets: {@link NLLLoss} of their log-softmax.
 *
 * <pre>{@code
 * Tensor loss = new CrossEntropyLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(0L));
 * System.out.println(loss); // tensor(0.2395)
 * }</pre>
 */
public final class CrossEntropyLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** Options of {@link CrossEntropyLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        long ignoreIndex = -100;
        Reduction reduction = Reduction.MEAN;
        double labelSmoothing = 0;

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
         * Sets ignoreIndex: class index that does not contribute to the loss (default -100).
         *
         * @param value class index that does not contribute to the loss (default -100)
         * @return the changed options
         */
        public Options withIgnoreIndex(long value) {
            return with(options -> options.ignoreIndex = value);
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

        /**
         * Sets labelSmoothing: fraction of each target that is distributed evenly over all classes (default 0).
         *
         * @param value fraction of each target that is distributed evenly over all classes (default 0)
         * @return the changed options
         */
        public Options withLabelSmoothing(double value) {
            return with(options -> options.labelSmoothing = value);
        }
    }

    /** Creates the loss with default options. */
    public CrossEntropyLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public CrossEntropyLoss(Options options) {
        this.options = options;
        weight = weight("weight", options.weight);
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.crossEntropy(input, target, weight, options.reduction, options.ignoreIndex, options.labelSmoothing);
    }
}
