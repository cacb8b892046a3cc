package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Cross entropy of the sigmoid of scores.
 *
 * <pre>{@code
 * Tensor loss = new BCEWithLogitsLoss().forward(Tensor.of(0f, 2f), Tensor.of(1f, 0f));
 * System.out.println(loss); // tensor(1.4100)
 * }</pre>
 */
public final class BCEWithLogitsLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;
    private final @Nullable Tensor posWeight;

    /** What a BCEWithLogitsLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        @Nullable Tensor posWeight;
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
         * Sets posWeight: a weight of positive targets per class.
         *
         * @param value a weight of positive targets per class
         * @return the changed options
         */
        public Options withPosWeight(Tensor value) {
            return with(options -> options.posWeight = value);
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
    public BCEWithLogitsLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
     */
    public BCEWithLogitsLoss(Options options) {
        this.options = options;
        weight = weight("weight", options.weight);
        posWeight = weight("pos_weight", options.posWeight);
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.binaryCrossEntropyWithLogits(input, target, weight, posWeight, options.reduction);
    }
}
