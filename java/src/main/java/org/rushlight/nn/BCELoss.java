package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Cross entropy of probabilities of a yes.
 *
 * <pre>{@code
 * Tensor loss = new BCELoss().forward(Tensor.of(0.5f, 0.9f), Tensor.of(1f, 0f));
 * System.out.println(loss); // tensor(1.4979)
 * }</pre>
 */
public final class BCELoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** What a BCELoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets weight: a weight per element.
         *
         * @param value a weight per element
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
    public BCELoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
     */
    public BCELoss(Options options) {
        this.options = options;
        weight = weight("weight", options.weight);
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.binaryCrossEntropy(input, target, weight, options.reduction);
    }
}
