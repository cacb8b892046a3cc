package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the connectionist temporal classification loss: the negative log likelihood of the targets, summed over all
 * their alignments.
 *
 * <pre>{@code
 * Tensor logProbs = Torch.zeros(5, 1, 3).logSoftmax(2); // five steps of three symbols, the first of which is the blank
 * System.out.println(new CTCLoss().forward(logProbs, Tensor.of(new long[][] {{1, 2}}), Tensor.of(5L), Tensor.of(2L))); // tensor(0.9689)
 * }</pre>
 */
public final class CTCLoss extends Module {
    private final Options options;

    /** Options of {@link CTCLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long blank = 0;
        Reduction reduction = Reduction.MEAN;
        boolean zeroInfinity = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets blank: index of the blank class (default 0).
         *
         * @param value index of the blank class (default 0)
         * @return the changed options
         */
        public Options withBlank(long value) {
            return with(options -> options.blank = value);
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

        /**
         * Sets zeroInfinity: whether to replace infinite losses and their gradients by zero (default false).
         *
         * @param value whether to replace infinite losses and their gradients by zero (default false)
         * @return the changed options
         */
        public Options withZeroInfinity(boolean value) {
            return with(options -> options.zeroInfinity = value);
        }
    }

    /** Creates the layer with default options. */
    public CTCLoss() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public CTCLoss(Options options) {
        this.options = options;
    }

    /**
     * Computes the loss.
     *
     * @param logProbs log probabilities of shape {@code (T, N, C)} or {@code (T, C)}
     * @param targets class indices of shape {@code (N, S)}, or concatenated of shape {@code (sum(targetLengths))}
     * @param inputLengths lengths of the inputs, of shape {@code (N)} or {@code ()}
     * @param targetLengths lengths of the targets, of shape {@code (N)} or {@code ()}
     * @return scalar tensor, or one loss per sample for {@link Reduction#NONE}
     */
    public Tensor forward(Tensor logProbs, Tensor targets, Tensor inputLengths, Tensor targetLengths) {
        checkOpen();
        return Functional.ctcLoss(
            logProbs, targets, inputLengths, targetLengths, options.blank, options.reduction, options.zeroInfinity);
    }
}
