package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Distances of pairs that are alike (1) or not (-1).
 *
 * <pre>{@code
 * Tensor loss = new HingeEmbeddingLoss().forward(Tensor.of(0.5f, 0.5f), Tensor.of(1f, -1f));
 * System.out.println(loss); // tensor(0.5000)
 * }</pre>
 */
public final class HingeEmbeddingLoss extends Loss {
    private final Options options;

    /** What a HingeEmbeddingLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 1;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets margin: least distance of the unlike.
         *
         * @param value least distance of the unlike
         * @return the changed options
         */
        public Options withMargin(double value) {
            return with(options -> options.margin = value);
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
    public HingeEmbeddingLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
     */
    public HingeEmbeddingLoss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.hingeEmbeddingLoss(input, target, options.margin, options.reduction);
    }
}
