package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Anchors shall be nearer to the positive than to the negative ones.
 *
 * <pre>{@code
 * Tensor anchor = Tensor.of(new float[][] {{1, 0}});
 * Tensor loss = new TripletMarginLoss().forward(anchor, anchor, Tensor.of(new float[][] {{0, 1}}));
 * System.out.println(loss); // tensor(0.)
 * }</pre>
 */
public final class TripletMarginLoss extends Module {
    private final Options options;

    /** What a TripletMarginLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double margin = 1;
        double p = 2;
        double eps = 1e-6;
        boolean swap = false;
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
         * Sets p: degree of the norm.
         *
         * @param value degree of the norm
         * @return the changed options
         */
        public Options withP(double value) {
            return with(options -> options.p = value);
        }

        /**
         * Sets eps: added to differences.
         *
         * @param value added to differences
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets swap: take the distance of positive and negative where it is smaller.
         *
         * @param value take the distance of positive and negative where it is smaller
         * @return the changed options
         */
        public Options withSwap(boolean value) {
            return with(options -> options.swap = value);
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
    public TripletMarginLoss() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public TripletMarginLoss(Options options) {
        this.options = options;
    }

    /**
     * Computes the loss.
     *
     * @param anchor the anchors
     * @param positive like the anchors
     * @param negative unlike the anchors
     * @return a scalar, or one loss for each sample
     */
    public Tensor forward(Tensor anchor, Tensor positive, Tensor negative) {
        checkOpen();
        return Functional.tripletMarginLoss(
            anchor, positive, negative, options.margin, options.p, options.eps, options.swap, options.reduction);
    }
}
