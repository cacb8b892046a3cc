package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the cosine embedding loss: {@code 1 - cos(x1, x2)} for target 1, {@code max(0, cos(x1, x2) - margin)} for
 * target -1.
 *
 * <pre>{@code
 * Tensor loss = new CosineEmbeddingLoss().forward(Tensor.of(new float[][] {{1, 0}}), Tensor.of(new float[][] {{0, 1}}), Tensor.of(1f));
 * System.out.println(loss); // tensor(1.)
 * }</pre>
 */
public final class CosineEmbeddingLoss extends Module {
    private final Options options;

    /** Options of {@link CosineEmbeddingLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 0;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets margin: margin between -1 and 1 (default 0).
         *
         * @param value margin between -1 and 1 (default 0)
         * @return the changed options
         */
        public Options withMargin(double value) {
            return with(options -> options.margin = value);
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

    /** Creates the layer with default options. */
    public CosineEmbeddingLoss() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public CosineEmbeddingLoss(Options options) {
        this.options = options;
    }

    /**
     * Computes the loss.
     *
     * @param input1 the first input
     * @param input2 the second input
     * @param target 1 or -1, of shape {@code (N)} or {@code ()}
     * @return scalar tensor, or one loss per sample for {@link Reduction#NONE}
     */
    public Tensor forward(Tensor input1, Tensor input2, Tensor target) {
        checkOpen();
        return Functional.cosineEmbeddingLoss(input1, input2, target, options.margin, options.reduction);
    }
}
