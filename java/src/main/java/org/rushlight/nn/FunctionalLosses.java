package org.rushlight.nn;

import java.util.Arrays;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Losses and distances: part of {@link Functional}. */
public abstract class FunctionalLosses extends FunctionalConvolutions {
    FunctionalLosses() {}

    /**
     * The absolute difference.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor l1Loss(Tensor input, Tensor target) {
        return Torch.l1_loss(input, target);
    }

    /**
     * The absolute difference.
     *
     * @param input any shape
     * @param target what the input should be
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor l1Loss(Tensor input, Tensor target, long reduction) {
        return Torch.l1_loss(input, target, reduction);
    }

    /**
     * The squared difference.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor mseLoss(Tensor input, Tensor target) {
        return mseLoss(input, target, Reduction.MEAN);
    }

    /**
     * The squared difference.
     *
     * @param input any shape
     * @param target what the input should be
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor mseLoss(Tensor input, Tensor target, long reduction) {
        Tensor[] both = Torch.broadcast_tensors(input, target);
        return Torch.mse_loss(both[0], both[1], reduction);
    }

    /**
     * The squared difference, and a line from beta on.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor smoothL1Loss(Tensor input, Tensor target) {
        return smoothL1Loss(input, target, Reduction.MEAN, 1);
    }

    /**
     * The squared difference, and a line from beta on.
     *
     * @param input any shape
     * @param target what the input should be
     * @param reduction one of {@link org.rushlight.Reduction}
     * @param beta factor of the input
     * @return the result
     */
    public static Tensor smoothL1Loss(Tensor input, Tensor target, long reduction, double beta) {
        Tensor[] both = Torch.broadcast_tensors(input, target);
        return Torch.smooth_l1_loss(both[0], both[1], reduction, beta);
    }

    /**
     * Half the squared difference, and a line from delta on.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor huberLoss(Tensor input, Tensor target) {
        return huberLoss(input, target, Reduction.MEAN, 1);
    }

    /**
     * Half the squared difference, and a line from delta on.
     *
     * @param input any shape
     * @param target what the input should be
     * @param reduction one of {@link org.rushlight.Reduction}
     * @param delta where the square becomes a line
     * @return the result
     */
    public static Tensor huberLoss(Tensor input, Tensor target, long reduction, double delta) {
        Tensor[] both = Torch.broadcast_tensors(input, target);
        return Torch.huber_loss(both[0], both[1], reduction, delta);
    }

    /**
     * The divergence of the target from the input, which is a logarithm. {@link KLDivLoss#BATCH_MEAN} divides the sum by the size of
     * the batch.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor klDiv(Tensor input, Tensor target) {
        return Torch.kl_div(input, target);
    }

    /**
     * The divergence of the target from the input, which is a logarithm. {@link KLDivLoss#BATCH_MEAN} divides the sum by the size of
     * the batch.
     *
     * @param input any shape
     * @param target what the input should be
     * @param reduction one of {@link org.rushlight.Reduction}
     * @param logTarget the target is a logarithm
     * @return the result
     */
    public static Tensor klDiv(Tensor input, Tensor target, long reduction, boolean logTarget) {
        if (reduction != KLDivLoss.BATCH_MEAN) {
            return Torch.kl_div(input, target, reduction, logTarget);
        }
        Tensor sum = Torch.kl_div(input, target, Reduction.SUM, logTarget);
        return input.dim() == 0 ? sum : sum.div(input.size(0));
    }

    /**
     * Cross entropy of probabilities of a yes.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor binaryCrossEntropy(Tensor input, Tensor target) {
        return binaryCrossEntropy(input, target, null, Reduction.MEAN);
    }

    /**
     * Cross entropy of probabilities of a yes.
     *
     * @param input any shape
     * @param target what the input should be
     * @param weight the weight
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor binaryCrossEntropy(Tensor input, Tensor target, @Nullable Tensor weight, long reduction) {
        checkSameSize(input, target);
        Tensor weights = weight == null ? null : Torch.broadcast_tensors(weight, target)[0];
        return Torch.binary_cross_entropy(input, target, weights, reduction);
    }

    /**
     * Cross entropy of the sigmoid of scores.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor binaryCrossEntropyWithLogits(Tensor input, Tensor target) {
        return binaryCrossEntropyWithLogits(input, target, null, null, Reduction.MEAN);
    }

    /**
     * Cross entropy of the sigmoid of scores.
     *
     * @param input any shape
     * @param target what the input should be
     * @param weight the weight
     * @param posWeight weight of positive targets per class, or null
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor binaryCrossEntropyWithLogits(
            Tensor input, Tensor target, @Nullable Tensor weight, @Nullable Tensor posWeight, long reduction) {
        if (!Arrays.equals(input.shape(), target.shape())) {
            throw new TensorValueException("Target size (" + Sizes.text(target) + ") must be the same as input size (" + Sizes.text(input) + ")");
        }
        return Torch.binary_cross_entropy_with_logits(input, target, weight, posWeight, reduction);
    }

    /**
     * Distances of pairs that are alike (1) or not (-1).
     *
     * @param input any shape
     * @param target what the input should be
     * @param margin margin
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor hingeEmbeddingLoss(Tensor input, Tensor target, double margin, long reduction) {
        return Torch.hinge_embedding_loss(input, target, margin, reduction);
    }

    /**
     * Margins between the score of the target class and those of others.
     *
     * @param input any shape
     * @param target what the input should be
     * @param p degree of the norm
     * @param margin margin
     * @param weight the weight
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor multiMarginLoss(Tensor input, Tensor target, long p, double margin, @Nullable Tensor weight, long reduction) {
        if (p != 1 && p != 2) {
            throw new TensorValueException("only p == 1 and p == 2 supported");
        }
        return Torch.multi_margin_loss(input, target, p, margin, weight, reduction);
    }

    /**
     * Angles of pairs that are alike (1) or not (-1).
     *
     * @param input1 the first input
     * @param input2 the second input
     * @param target what the input should be
     * @param margin margin
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor cosineEmbeddingLoss(Tensor input1, Tensor input2, Tensor target, double margin, long reduction) {
        return Torch.cosine_embedding_loss(input1, input2, target, margin, reduction);
    }

    /**
     * Margins between scores of several target classes and those of others.
     *
     * @param input any shape
     * @param target what the input should be
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor multilabelMarginLoss(Tensor input, Tensor target, long reduction) {
        return Torch.multilabel_margin_loss(input, target, reduction);
    }

    /**
     * {@code log(1 + exp(-y x))}.
     *
     * @param input any shape
     * @param target what the input should be
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor softMarginLoss(Tensor input, Tensor target, long reduction) {
        return Torch.soft_margin_loss(input, target, reduction);
    }

    /**
     * Cross entropy of the sigmoid of each class, as a mean over classes.
     *
     * @param input any shape
     * @param target what the input should be
     * @param weight the weight
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor multilabelSoftMarginLoss(Tensor input, Tensor target, @Nullable Tensor weight, long reduction) {
        Tensor losses = target.mul(Torch.log_sigmoid(input)).add(target.neg().add(1).mul(Torch.log_sigmoid(input.neg()))).neg();
        if (weight != null) {
            losses = losses.mul(weight);
        }
        return reduced(losses.sum(-1).div(input.size(-1)), reduction);
    }

    /**
     * Anchors shall be nearer to the positive than to the negative ones.
     *
     * @param anchor the anchors
     * @param positive like the anchors
     * @param negative unlike the anchors
     * @param margin margin
     * @param p degree of the norm
     * @param eps a small number
     * @param swap take the distance of positive and negative where it is smaller
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor tripletMarginLoss(
            Tensor anchor, Tensor positive, Tensor negative, double margin, double p, double eps, boolean swap, long reduction) {
        return Torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction);
    }

    /**
     * Anchors shall be nearer to the positive than to the negative ones.
     *
     * @param anchor the anchors
     * @param positive like the anchors
     * @param negative unlike the anchors
     * @param distance distance of two batches of vectors, or null for the Euclidean one
     * @param margin margin
     * @param swap take the distance of positive and negative where it is smaller
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor tripletMarginWithDistanceLoss(
            Tensor anchor, Tensor positive, Tensor negative, BinaryOperator<Tensor> distance, double margin, boolean swap, long
            reduction) {
        Tensor near = distance.apply(anchor, positive);
        Tensor far = distance.apply(anchor, negative);
        if (swap) {
            far = far.minimum(distance.apply(positive, negative));
        }
        return reduced(near.sub(far).add(margin).clamp_min(0), reduction);
    }

    /**
     * Minus the logarithm of the probability of the targets, over all their alignments.
     *
     * @param logProbs log probabilities, {@code (T, N, C)}
     * @param targets classes
     * @param inputLengths length of each input
     * @param targetLengths length of each target
     * @param blank class that stands for no label
     * @param reduction one of {@link org.rushlight.Reduction}
     * @param zeroInfinity infinite losses become zero
     * @return the result
     */
    public static Tensor ctcLoss(
            Tensor logProbs, Tensor targets, Tensor inputLengths, Tensor targetLengths, long blank, long reduction, boolean zeroInfinity) {
        return Torch.ctc_loss(logProbs, targets, inputLengths, targetLengths, blank, reduction, zeroInfinity);
    }

    /**
     * Negative log likelihood of counts.
     *
     * @param input any shape
     * @param target what the input should be
     * @param logInput the input is a logarithm
     * @param full add Stirling's term
     * @param eps a small number
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor poissonNllLoss(Tensor input, Tensor target, boolean logInput, boolean full, double eps, long reduction) {
        return Torch.poisson_nll_loss(input, target, logInput, full, eps, reduction);
    }

    /**
     * The first shall be larger (1) or smaller (-1) than the second.
     *
     * @param input1 the first input
     * @param input2 the second input
     * @param target what the input should be
     * @param margin margin
     * @param reduction one of {@link org.rushlight.Reduction}
     * @return the result
     */
    public static Tensor marginRankingLoss(Tensor input1, Tensor input2, Tensor target, double margin, long reduction) {
        if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
            throw new TensorValueException("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                + Sizes.text(input1) + ", input2: " + Sizes.text(input2) + ", target: " + Sizes.text(target));
        }
        return Torch.margin_ranking_loss(input1, input2, target, margin, reduction);
    }

    /**
     * Negative log likelihood: the mean of {@code -input[i, target[i]]}.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor nllLoss(Tensor input, Tensor target) {
        return nllLoss(input, target, null, Reduction.MEAN, -100);
    }

    /**
     * Negative log likelihood: the mean of {@code -input[i, target[i]]}.
     *
     * @param input any shape
     * @param target what the input should be
     * @param weight the weight
     * @param reduction one of {@link org.rushlight.Reduction}
     * @param ignoreIndex class that does not count
     * @return the result
     */
    public static Tensor nllLoss(Tensor input, Tensor target, @Nullable Tensor weight, long reduction, long ignoreIndex) {
        return Torch.nll_loss_nd(input, target, weight, reduction, ignoreIndex);
    }

    /**
     * Cross entropy of raw scores: {@code nllLoss(logSoftmax(input))}. The targets are classes or their probabilities.
     *
     * @param input any shape
     * @param target what the input should be
     * @return the result
     */
    public static Tensor crossEntropy(Tensor input, Tensor target) {
        return Torch.cross_entropy_loss(input, target);
    }

    /**
     * Cross entropy of raw scores: {@code nllLoss(logSoftmax(input))}. The targets are classes or their probabilities.
     *
     * @param input any shape
     * @param target what the input should be
     * @param weight the weight
     * @param reduction one of {@link org.rushlight.Reduction}
     * @param ignoreIndex class that does not count
     * @param labelSmoothing share of the target that is spread over all classes
     * @return the result
     */
    public static Tensor crossEntropy(
            Tensor input, Tensor target, @Nullable Tensor weight, long reduction, long ignoreIndex, double labelSmoothing) {
        return Torch.cross_entropy_loss(input, target, weight, reduction, ignoreIndex, labelSmoothing);
    }

    /**
     * The cosine of the angle between vectors.
     *
     * @param x1 the first vectors
     * @param x2 the second vectors
     * @param dim dimension
     * @param eps a small number
     * @return the result
     */
    public static Tensor cosineSimilarity(Tensor x1, Tensor x2, long dim, double eps) {
        return Torch.cosine_similarity(x1, x2, dim, eps);
    }

    /**
     * The norm of the difference.
     *
     * @param x1 the first vectors
     * @param x2 the second vectors
     * @param p degree of the norm
     * @param eps a small number
     * @param keepdim keep the dimension with size 1
     * @return the result
     */
    public static Tensor pairwiseDistance(Tensor x1, Tensor x2, double p, double eps, boolean keepdim) {
        return Torch.pairwise_distance(x1, x2, p, eps, keepdim);
    }

    /**
     * The distance of each pair of rows.
     *
     * @param input any shape
     * @param p degree of the norm
     * @return the result
     */
    public static Tensor pdist(Tensor input, double p) {
        return Torch.pdist(input, p);
    }

    private static void checkSameSize(Tensor input, Tensor target) {
        if (!Arrays.equals(input.shape(), target.shape())) {
            throw new TensorValueException("Using a target size (" + Sizes.text(target) + ") that is different to the input size ("
                + Sizes.text(input) + ") is deprecated. Please ensure they have the same size.");
        }
    }

    private static Tensor reduced(Tensor losses, long reduction) {
        return reduction == Reduction.NONE ? losses : reduction == Reduction.SUM ? losses.sum() : losses.mean();
    }
}
