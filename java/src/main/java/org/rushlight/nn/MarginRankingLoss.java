package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the ranking loss {@code max(0, -target * (input1 - input2) + margin)}.
 *
 * <pre>{@code
 * Tensor loss = new MarginRankingLoss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f), Tensor.of(1f, 1f));
 * System.out.println(loss); // tensor(1.)
 * }</pre>
 */
public final class MarginRankingLoss extends Module {
    private final Options options;

    /** Options of {@link MarginRankingLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 0;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets margin: margin (default 0).
         *
         * @param value margin (default 0)
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
    public MarginRankingLoss() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public MarginRankingLoss(Options options) {
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
        return Functional.marginRankingLoss(input1, input2, target, options.margin, options.reduction);
    }
}
