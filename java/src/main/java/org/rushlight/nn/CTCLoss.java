package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Minus the logarithm of the probability of the targets, over all their alignments.
 *
 * <pre>{@code
 * Tensor logProbs = Torch.zeros(5, 1, 3).log_softmax(2); // five steps of three symbols, the first of which is the blank
 * System.out.println(new CTCLoss().forward(logProbs, Tensor.of(new long[][] {{1, 2}}), Tensor.of(5L), Tensor.of(2L))); // tensor(0.9689)
 * }</pre>
 */
public final class CTCLoss extends Module {
    private final Options options;

    /** What a CTCLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long blank = 0;
        long reduction = Reduction.MEAN;
        boolean zeroInfinity = false;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets blank: class that stands for no label.
         *
         * @param value class that stands for no label
         * @return the changed options
         */
        public Options withBlank(long value) {
            return with(options -> options.blank = value);
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

        /**
         * Sets zeroInfinity: infinite losses become zero, with their gradients.
         *
         * @param value infinite losses become zero, with their gradients
         * @return the changed options
         */
        public Options withZeroInfinity(boolean value) {
            return with(options -> options.zeroInfinity = value);
        }
    }

    /** The layer with the defaults. */
    public CTCLoss() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public CTCLoss(Options options) {
        this.options = options;
    }

    /**
     * Computes the loss.
     *
     * @param logProbs log probabilities, {@code (T, N, C)}
     * @param targets classes
     * @param inputLengths length of each input
     * @param targetLengths length of each target
     * @return a scalar, or one loss for each sample
     */
    public Tensor forward(Tensor logProbs, Tensor targets, Tensor inputLengths, Tensor targetLengths) {
        checkOpen();
        return Functional.ctcLoss(
            logProbs, targets, inputLengths, targetLengths, options.blank, options.reduction, options.zeroInfinity);
    }
}
