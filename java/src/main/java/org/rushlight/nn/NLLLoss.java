package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the negative log likelihood loss from log probabilities.
 *
 * <pre>{@code
 * Tensor loss = new NLLLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}).logSoftmax(1), Tensor.of(0L));
 * System.out.println(loss); // tensor(0.2395)
 * }</pre>
 */
public final class NLLLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** Options of {@link NLLLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        long ignoreIndex = -100;
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
    }

    /** Creates the loss with default options. */
    public NLLLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public NLLLoss(Options options) {
        this.options = options;
        weight = weight("weight", options.weight);
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.nllLoss(input, target, weight, options.reduction, options.ignoreIndex);
    }
}
