package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the binary cross-entropy between {@code sigmoid(input)} and targets.
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

    /** Options of {@link BCEWithLogitsLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
        @Nullable Tensor posWeight;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets weight: weight of each element.
         *
         * @param value weight of each element
         * @return the changed options
         */
        public Options withWeight(Tensor value) {
            return with(options -> options.weight = value);
        }

        /**
         * Sets posWeight: weight of positive targets per class.
         *
         * @param value weight of positive targets per class
         * @return the changed options
         */
        public Options withPosWeight(Tensor value) {
            return with(options -> options.posWeight = value);
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
    public BCEWithLogitsLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
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
