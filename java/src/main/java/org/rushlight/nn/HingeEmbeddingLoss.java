package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the hinge embedding loss: {@code x} for target 1, {@code max(0, margin - x)} for target -1.
 *
 * <pre>{@code
 * Tensor loss = new HingeEmbeddingLoss().forward(Tensor.of(0.5f, 0.5f), Tensor.of(1f, -1f));
 * System.out.println(loss); // tensor(0.5000)
 * }</pre>
 */
public final class HingeEmbeddingLoss extends Loss {
    private final Options options;

    /** Options of {@link HingeEmbeddingLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 1;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets margin: margin of dissimilar pairs (default 1).
         *
         * @param value margin of dissimilar pairs (default 1)
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

    /** Creates the loss with default options. */
    public HingeEmbeddingLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
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
