package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * The first shall be larger (1) or smaller (-1) than the second.
 *
 * <pre>{@code
 * Tensor loss = new MarginRankingLoss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f), Tensor.of(1f, 1f));
 * System.out.println(loss); // tensor(1.)
 * }</pre>
 */
public final class MarginRankingLoss extends Module {
    private final Options options;

    /** What a MarginRankingLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 0;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets margin: by how much.
         *
         * @param value by how much
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
    public MarginRankingLoss() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public MarginRankingLoss(Options options) {
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
        return Functional.marginRankingLoss(input1, input2, target, options.margin, options.reduction);
    }
}
