package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Negative log likelihood of the target classes, given log probabilities.
 *
 * <pre>{@code
 * Tensor loss = new NLLLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}).log_softmax(1), Tensor.of(0L));
 * System.out.println(loss); // tensor(0.2395)
 * }</pre>
 */
public final class NLLLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** What a NLLLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        long ignoreIndex = -100;
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
    }

    /** The loss with the defaults. */
    public NLLLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
