package org.rushlight.nn;

import java.util.function.BinaryOperator;
import org.rushlight.Reduction;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Computes the triplet loss of {@link TripletMarginLoss} with a custom distance function.
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

    /** Options of {@link TripletMarginWithDistanceLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        BinaryOperator<Tensor> distanceFunction = Torch::pairwiseDistance;
        double margin = 1;
        boolean swap = false;
        Reduction reduction = Reduction.MEAN;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets distanceFunction: function that returns the distances of two batches of vectors (default Euclidean).
         *
         * @param value function that returns the distances of two batches of vectors (default Euclidean)
         * @return the changed options
         */
        public Options withDistanceFunction(BinaryOperator<Tensor> value) {
            return with(options -> options.distanceFunction = value);
        }

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
    public TripletMarginWithDistanceLoss() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public TripletMarginWithDistanceLoss(Options options) {
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
        return Functional.tripletMarginWithDistanceLoss(
            anchor, positive, negative, options.distanceFunction, options.margin, options.swap, options.reduction);
    }
}
