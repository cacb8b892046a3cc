package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Computes the multi-class hinge loss between scores and a target class.
 *
 * <pre>{@code
 * Tensor loss = new MultiMarginLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(1L));
 * System.out.println(loss); // tensor(1.3333)
 * }</pre>
 */
public final class MultiMarginLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** Options of {@link MultiMarginLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long p = 1;
        double margin = 1;
        @Nullable Tensor weight;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets p: exponent, 1 or 2 (default 1).
         *
         * @param value exponent, 1 or 2 (default 1)
         * @return the changed options
         */
        public Options withP(long value) {
            return with(options -> options.p = value);
        }

        /**
         * Sets margin: margin (default 1).
         *
         * @param value margin (default 1)
         * @return the changed options
         */
        public Options withMargin(double value) {
            return with(options -> options.margin = value);
        }

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
    public MultiMarginLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public MultiMarginLoss(Options options) {
        if (options.p != 1 && options.p != 2) {
            throw new TensorValueException("only p == 1 and p == 2 supported");
        }
        this.options = options;
        weight = weight("weight", options.weight);
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.multiMarginLoss(input, target, options.p, options.margin, weight, options.reduction);
    }
}
