package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Margins between the score of the target class and those of others.
 *
 * <pre>{@code
 * Tensor loss = new MultiMarginLoss().forward(Tensor.of(new float[][] {{2, 0, 0}}), Tensor.of(1L));
 * System.out.println(loss); // tensor(1.3333)
 * }</pre>
 */
public final class MultiMarginLoss extends Loss {
    private final Options options;
    private final @Nullable Tensor weight;

    /** What a MultiMarginLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long p = 1;
        double margin = 1;
        @Nullable Tensor weight;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets p: power of the margins, 1 or 2.
         *
         * @param value power of the margins, 1 or 2
         * @return the changed options
         */
        public Options withP(long value) {
            return with(options -> options.p = value);
        }

        /**
         * Sets margin: margin.
         *
         * @param value margin
         * @return the changed options
         */
        public Options withMargin(double value) {
            return with(options -> options.margin = value);
        }

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
    public MultiMarginLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
