package org.rushlight.nn;

import java.util.function.BinaryOperator;
import org.rushlight.Reduction;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * {@link TripletMarginLoss} with a distance of its own.
 *
 * <pre>{@code
 * var loss = new TripletMarginWithDistanceLoss(new TripletMarginWithDistanceLoss.Options()
 *     .withDistanceFunction((a, b) -> a.sub(b).abs().sum(new long[] {-1}, false)));
 * Tensor anchor = Tensor.of(new float[][] {{1, 0}});
 * System.out.println(loss.forward(anchor, anchor.neg(), anchor.mul(2))); // tensor(2.)
 * }</pre>
 */
public final class TripletMarginWithDistanceLoss extends Module {
    private final Options options;

    /** What a TripletMarginWithDistanceLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        BinaryOperator<Tensor> distanceFunction = Torch::pairwise_distance;
        double margin = 1;
        boolean swap = false;
        long reduction = Reduction.MEAN;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets distanceFunction: distance of two batches of vectors.
         *
         * @param value distance of two batches of vectors
         * @return the changed options
         */
        public Options withDistanceFunction(BinaryOperator<Tensor> value) {
            return with(options -> options.distanceFunction = value);
        }

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
    public TripletMarginWithDistanceLoss() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public TripletMarginWithDistanceLoss(Options options) {
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
        return Functional.tripletMarginWithDistanceLoss(
            anchor, positive, negative, options.distanceFunction, options.margin, options.swap, options.reduction);
    }
}
