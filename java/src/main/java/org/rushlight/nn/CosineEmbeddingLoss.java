package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Angles of pairs that are alike (1) or not (-1).
 *
 * <pre>{@code
 * Tensor loss = new CosineEmbeddingLoss().forward(Tensor.of(new float[][] {{1, 0}}), Tensor.of(new float[][] {{0, 1}}), Tensor.of(1f));
 * System.out.println(loss); // tensor(1.)
 * }</pre>
 */
public final class CosineEmbeddingLoss extends Module {
    private final Options options;

    /** What a CosineEmbeddingLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 0;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets margin: largest cosine of the unlike that costs nothing.
         *
         * @param value largest cosine of the unlike that costs nothing
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

    /** The layer with the defaults. */
    public CosineEmbeddingLoss() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public CosineEmbeddingLoss(Options options) {
        this.options = options;
    }

    /**
     * Computes the loss.
     *
     * @param input1 the first input
     * @param input2 the second input
     * @param target what the input should be
     * @return a scalar, or one loss for each sample
     */
    public Tensor forward(Tensor input1, Tensor input2, Tensor target) {
        checkOpen();
        return Functional.cosineEmbeddingLoss(input1, input2, target, options.margin, options.reduction);
    }
}
