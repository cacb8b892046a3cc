package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the binary cross-entropy between probabilities and targets.
 *
 * <pre>{@code
 * Tensor loss = new BCELoss().forward(Tensor.of(0.5f, 0.9f), Tensor.of(1f, 0f));
 * System.out.println(loss); // tensor(1.4979)
 * }</pre>
 */
public final class BCELoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** Options of {@link BCELoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        @Nullable Tensor weight;
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
    public BCELoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
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
