package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * {@link NLLLoss} of the log-softmax of scores.
 *
 * <pre>{@code
 * Tensor loss = new CrossEntropyLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(0L));
 * System.out.println(loss); // tensor(0.2395)
 * }</pre>
 */
public final class CrossEntropyLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** What a CrossEntropyLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        long ignoreIndex = -100;
        long reduction = Reduction.MEAN;
        double labelSmoothing = 0;

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
         * Sets ignoreIndex: targets with this number do not count.
         *
         * @param value targets with this number do not count
         * @return the changed options
         */
        public Options withIgnoreIndex(long value) {
            return with(options -> options.ignoreIndex = value);
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

        /**
         * Sets labelSmoothing: share of the target that is spread over all classes.
         *
         * @param value share of the target that is spread over all classes
         * @return the changed options
         */
        public Options withLabelSmoothing(double value) {
            return with(options -> options.labelSmoothing = value);
        }
    }

    /** The loss with the defaults. */
    public CrossEntropyLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
