package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the triplet loss {@code max(0, d(anchor, positive) - d(anchor, negative) + margin)}.
 *
 * <pre>{@code
 * Tensor anchor = Tensor.of(new float[][] {{1, 0}});
 * Tensor loss = new TripletMarginLoss().forward(anchor, anchor, Tensor.of(new float[][] {{0, 1}}));
 * System.out.println(loss); // tensor(0.)
 * }</pre>
 */
public final class TripletMarginLoss extends Module {
    private final Options options;

    /** Options of {@link TripletMarginLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 1;
        double p = 2;
        double eps = 1e-6;
        boolean swap = false;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

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
         * Sets p: degree of the norm.
         *
         * @param value degree of the norm
         * @return the changed options
         */
        public Options withP(double value) {
            return with(options -> options.p = value);
        }

        /**
         * Sets eps: term added to the differences for numerical stability (default 1e-6).
         *
         * @param value term added to the differences for numerical stability (default 1e-6)
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets swap: whether to use the distance of positive and negative if it is smaller (default false).
         *
         * @param value whether to use the distance of positive and negative if it is smaller (default false)
         * @return the changed options
         */
        public Options withSwap(boolean value) {
            return with(options -> options.swap = value);
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
    public TripletMarginLoss() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public TripletMarginLoss(Options options) {
        this.options = options;
    }

    /**
     * Computes the loss.
     *
     * @param anchor anchors of shape {@code (N, D)} or {@code (D)}
     * @param positive samples similar to the anchors, of the same shape
     * @param negative samples dissimilar to the anchors, of the same shape
     * @return scalar tensor, or one loss per sample for {@link Reduction#NONE}
     */
    public Tensor forward(Tensor anchor, Tensor positive, Tensor negative) {
        checkOpen();
        return Functional.tripletMarginLoss(
            anchor, positive, negative, options.margin, options.p, options.eps, options.swap, options.reduction);
    }
}
