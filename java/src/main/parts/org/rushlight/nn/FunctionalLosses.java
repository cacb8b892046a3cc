package org.rushlight.nn;

import java.util.Arrays;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.Reduction;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Losses and distances: part of {@link Functional}. */
public abstract class FunctionalLosses {
    FunctionalLosses() {}

    /**
     * Computes the mean of the absolute error {@code |input - target|}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor l1Loss(Tensor input, Tensor target) {
        return Torch.l1Loss(input, target);
    }

    /**
     * Computes the absolute error {@code |input - target|}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor l1Loss(Tensor input, Tensor target, Reduction reduction) {
        return Torch.l1Loss(input, target, reduction.code());
    }

    /**
     * Computes the mean of the squared error {@code (input - target)^2}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor mseLoss(Tensor input, Tensor target) {
        return mseLoss(input, target, Reduction.MEAN);
    }

    /**
     * Computes the squared error {@code (input - target)^2}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor mseLoss(Tensor input, Tensor target, Reduction reduction) {
        Tensor[] both = Torch.broadcastTensors(input, target);
        return Torch.mseLoss(both[0], both[1], reduction.code());
    }

    /**
     * Computes the mean of the smooth L1 loss with {@code beta = 1}: {@code 0.5 d^2} where {@code |d| < 1}, else {@code
     * |d| - 0.5}, with {@code d = input - target}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor smoothL1Loss(Tensor input, Tensor target) {
        return smoothL1Loss(input, target, Reduction.MEAN, 1);
    }

    /**
     * Computes the smooth L1 loss: {@code 0.5 d^2 / beta} where {@code |d| < beta}, else {@code |d| - 0.5 beta}, with
     * {@code d = input - target}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @param beta threshold between the quadratic and the linear part, non-negative (default 1)
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor smoothL1Loss(Tensor input, Tensor target, Reduction reduction, double beta) {
        Tensor[] both = Torch.broadcastTensors(input, target);
        return Torch.smoothL1Loss(both[0], both[1], reduction.code(), beta);
    }

    /**
     * Computes the mean of the Huber loss with {@code delta = 1}: {@code 0.5 d^2} where {@code |d| < 1}, else {@code
     * |d| - 0.5}, with {@code d = input - target}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor huberLoss(Tensor input, Tensor target) {
        return huberLoss(input, target, Reduction.MEAN, 1);
    }

    /**
     * Computes the Huber loss: {@code 0.5 d^2} where {@code |d| < delta}, else {@code delta (|d| - 0.5 delta)}, with
     * {@code d = input - target}.
     *
     * @param input predictions of any shape
     * @param target targets of the same shape as {@code input}
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @param delta threshold between the quadratic and the linear part, positive (default 1)
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor huberLoss(Tensor input, Tensor target, Reduction reduction, double delta) {
        Tensor[] both = Torch.broadcastTensors(input, target);
        return Torch.huberLoss(both[0], both[1], reduction.code(), delta);
    }

    /**
     * Computes the mean of the Kullback-Leibler divergence {@code target * (log(target) - input)}.
     *
     * @param input log probabilities of any shape
     * @param target probabilities of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor klDiv(Tensor input, Tensor target) {
        return Torch.klDiv(input, target);
    }

    /**
     * Computes the Kullback-Leibler divergence {@code target * (log(target) - input)}. {@link Reduction#BATCH_MEAN}
     * divides the sum by the batch size, as the definition of the divergence requires.
     *
     * @param input log probabilities of any shape
     * @param target probabilities of the same shape as {@code input}, or log probabilities if {@code logTarget}
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}, or
     *     {@link Reduction#BATCH_MEAN}
     * @param logTarget whether {@code target} contains log probabilities (default false)
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor klDiv(Tensor input, Tensor target, Reduction reduction, boolean logTarget) {
        if (reduction != Reduction.BATCH_MEAN) {
            return Torch.klDiv(input, target, reduction.code(), logTarget);
        }
        Tensor sum = Torch.klDiv(input, target, Reduction.SUM.code(), logTarget);
        return input.dim() == 0 ? sum : sum.div(input.size(0));
    }

    /**
     * Computes the mean of the binary cross-entropy {@code -(t log(x) + (1 - t) log(1 - x))}.
     *
     * @param input probabilities of any shape, between 0 and 1
     * @param target targets between 0 and 1, of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor binaryCrossEntropy(Tensor input, Tensor target) {
        return binaryCrossEntropy(input, target, null, Reduction.MEAN);
    }

    /**
     * Computes the binary cross-entropy {@code -(t log(x) + (1 - t) log(1 - x))}.
     *
     * @param input probabilities of any shape, between 0 and 1
     * @param target targets between 0 and 1, of the same shape as {@code input}
     * @param weight rescaling factors that broadcast to the shape of {@code input}, or null
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor binaryCrossEntropy(Tensor input, Tensor target, @Nullable Tensor weight, Reduction reduction) {
        checkSameSize(input, target);
        Tensor weights = weight == null ? null : Torch.broadcastTensors(weight, target)[0];
        return Torch.binaryCrossEntropy(input, target, weights, reduction.code());
    }

    /**
     * Computes the mean of the binary cross-entropy of {@code sigmoid(input)}, in a numerically stable form.
     *
     * @param input logits of any shape
     * @param target targets between 0 and 1, of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor binaryCrossEntropyWithLogits(Tensor input, Tensor target) {
        return binaryCrossEntropyWithLogits(input, target, null, null, Reduction.MEAN);
    }

    /**
     * Computes the binary cross-entropy of {@code sigmoid(input)}, in a numerically stable form.
     *
     * @param input logits of any shape
     * @param target targets between 0 and 1, of the same shape as {@code input}
     * @param weight rescaling factors that broadcast to the shape of {@code input}, or null
     * @param posWeight weights of positive targets that broadcast with {@code target}, usually of shape {@code (C)}, or
     *     null
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor binaryCrossEntropyWithLogits(
            Tensor input, Tensor target, @Nullable Tensor weight, @Nullable Tensor posWeight, Reduction reduction) {
        if (!Arrays.equals(input.shape(), target.shape())) {
            throw new TensorValueException("Target size (" + Sizes.text(target) + ") must be the same as input size (" + Sizes.text(input) + ")");
        }
        return Torch.binaryCrossEntropyWithLogits(input, target, weight, posWeight, reduction.code());
    }

    /**
     * Computes the hinge embedding loss: {@code x} for target 1, {@code max(0, margin - x)} for target -1.
     *
     * @param input distances of any shape
     * @param target 1 for similar and -1 for dissimilar pairs, of the same shape as {@code input}
     * @param margin margin (default 1)
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor hingeEmbeddingLoss(Tensor input, Tensor target, double margin, Reduction reduction) {
        return Torch.hingeEmbeddingLoss(input, target, margin, reduction.code());
    }

    /**
     * Computes the multi-class hinge loss: {@code sum(max(0, margin - x[y] + x[i])^p) / C} over the classes {@code i !=
     * y}.
     *
     * @param input scores of shape {@code (N, C)} or {@code (C)}
     * @param target class indices {@code y} in {@code [0, C)}, of shape {@code (N)} or {@code ()}
     * @param p exponent, 1 or 2 (default 1)
     * @param margin margin (default 1)
     * @param weight weights of the classes, of shape {@code (C)}, or null
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor multiMarginLoss(Tensor input, Tensor target, long p, double margin, @Nullable Tensor weight, Reduction reduction) {
        if (p != 1 && p != 2) {
            throw new TensorValueException("only p == 1 and p == 2 supported");
        }
        return Torch.multiMarginLoss(input, target, p, margin, weight, reduction.code());
    }

    /**
     * Computes the cosine embedding loss: {@code 1 - cos(x1, x2)} for target 1, {@code max(0, cos(x1, x2) - margin)}
     * for target -1.
     *
     * @param input1 vectors of shape {@code (N, D)} or {@code (D)}
     * @param input2 vectors of the same shape as {@code input1}
     * @param target 1 for similar and -1 for dissimilar pairs, of shape {@code (N)} or {@code ()}
     * @param margin margin between -1 and 1 (default 0)
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor cosineEmbeddingLoss(Tensor input1, Tensor input2, Tensor target, double margin, Reduction reduction) {
        return Torch.cosineEmbeddingLoss(input1, input2, target, margin, reduction.code());
    }

    /**
     * Computes the multi-label hinge loss: {@code sum(max(0, 1 - (x[y[j]] - x[i]))) / C} over the target classes {@code
     * y[j]} and the other classes {@code i}.
     *
     * @param input scores of shape {@code (N, C)} or {@code (C)}
     * @param target class indices of the same shape as {@code input}; the first -1 ends the list of a sample
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor multilabelMarginLoss(Tensor input, Tensor target, Reduction reduction) {
        return Torch.multilabelMarginLoss(input, target, reduction.code());
    }

    /**
     * Computes the logistic loss {@code log(1 + exp(-target * input))}.
     *
     * @param input scores of any shape
     * @param target 1 or -1, of the same shape as {@code input}
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor softMarginLoss(Tensor input, Tensor target, Reduction reduction) {
        return Torch.softMarginLoss(input, target, reduction.code());
    }

    /**
     * Computes the binary cross-entropy of {@code sigmoid(input)}, averaged over the classes.
     *
     * @param input logits of shape {@code (N, C)} or {@code (C)}
     * @param target 0 or 1, of the same shape as {@code input}
     * @param weight weights of the classes, of shape {@code (C)}, or null
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor multilabelSoftMarginLoss(Tensor input, Tensor target, @Nullable Tensor weight, Reduction reduction) {
        Tensor losses = target.mul(Torch.logSigmoid(input)).add(target.neg().add(1).mul(Torch.logSigmoid(input.neg()))).neg();
        if (weight != null) {
            losses = losses.mul(weight);
        }
        return reduced(losses.sum(-1).div(input.size(-1)), reduction);
    }

    /**
     * Computes the triplet loss {@code max(0, d(anchor, positive) - d(anchor, negative) + margin)}, where {@code d} is
     * the p-norm of the difference.
     *
     * @param anchor anchors of shape {@code (N, D)} or {@code (D)}
     * @param positive samples similar to the anchors, of the same shape
     * @param negative samples dissimilar to the anchors, of the same shape
     * @param margin non-negative margin (default 1)
     * @param p degree of the norm (default 2)
     * @param eps constant added to the differences for numerical stability (default 1e-6)
     * @param swap whether to use the distance of positive and negative if it is smaller than that of anchor and
     *     negative (default false)
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor tripletMarginLoss(
            Tensor anchor, Tensor positive, Tensor negative, double margin, double p, double eps, boolean swap, Reduction reduction) {
        return Torch.tripletMarginLoss(anchor, positive, negative, margin, p, eps, swap, reduction.code());
    }

    /**
     * Computes the triplet loss {@code max(0, d(anchor, positive) - d(anchor, negative) + margin)} with a given
     * distance function {@code d}.
     *
     * @param anchor anchors of shape {@code (N, D)} or {@code (D)}
     * @param positive samples similar to the anchors, of the same shape
     * @param negative samples dissimilar to the anchors, of the same shape
     * @param distance function that returns the distances of two batches of vectors, or null for the Euclidean distance
     * @param margin non-negative margin (default 1)
     * @param swap whether to use the distance of positive and negative if it is smaller than that of anchor and
     *     negative (default false)
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor tripletMarginWithDistanceLoss(
            Tensor anchor, Tensor positive, Tensor negative, BinaryOperator<Tensor> distance, double margin, boolean swap, Reduction
            reduction) {
        Tensor near = distance.apply(anchor, positive);
        Tensor far = distance.apply(anchor, negative);
        if (swap) {
            far = far.minimum(distance.apply(positive, negative));
        }
        return reduced(near.sub(far).add(margin).clampMin(0), reduction);
    }

    /**
     * Computes the connectionist temporal classification loss: the negative log likelihood of the targets, summed over
     * all their alignments with the input.
     *
     * @param logProbs log probabilities of shape {@code (T, N, C)} or {@code (T, C)}, where {@code T} is the input
     *     length and {@code C} the number of classes including the blank
     * @param targets class indices of shape {@code (N, S)}, or concatenated of shape {@code (sum(targetLengths))}
     * @param inputLengths lengths of the inputs, of shape {@code (N)} or {@code ()}, each at most {@code T}
     * @param targetLengths lengths of the targets, of shape {@code (N)} or {@code ()}
     * @param blank index of the blank class (default 0)
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @param zeroInfinity whether to replace infinite losses and their gradients by zero (default false)
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor ctcLoss(
            Tensor logProbs, Tensor targets, Tensor inputLengths, Tensor targetLengths, long blank, Reduction reduction, boolean zeroInfinity) {
        return Torch.ctcLoss(logProbs, targets, inputLengths, targetLengths, blank, reduction.code(), zeroInfinity);
    }

    /**
     * Computes the negative log likelihood of Poisson-distributed targets: {@code exp(input) - target * input}, or
     * {@code input - target * log(input + eps)} unless {@code logInput}.
     *
     * @param input expected rate, or its logarithm if {@code logInput}, of any shape
     * @param target counts of the same shape as {@code input}
     * @param logInput whether {@code input} is the logarithm of the rate (default true)
     * @param full whether to add the Stirling approximation of {@code log(target!)} (default false)
     * @param eps constant that avoids {@code log(0)} if {@code logInput} is false (default 1e-8)
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per element for {@code Reduction.NONE}
     */
    public static Tensor poissonNllLoss(Tensor input, Tensor target, boolean logInput, boolean full, double eps, Reduction reduction) {
        return Torch.poissonNllLoss(input, target, logInput, full, eps, reduction.code());
    }

    /**
     * Computes the ranking loss {@code max(0, -target * (input1 - input2) + margin)}.
     *
     * @param input1 first scores of shape {@code (N)} or {@code ()}
     * @param input2 second scores of the same shape
     * @param target 1 if {@code input1} should rank higher, -1 if {@code input2} should, of the same shape
     * @param margin margin (default 0)
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor marginRankingLoss(Tensor input1, Tensor input2, Tensor target, double margin, Reduction reduction) {
        if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
            throw new TensorValueException("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                + Sizes.text(input1) + ", input2: " + Sizes.text(input2) + ", target: " + Sizes.text(target));
        }
        return Torch.marginRankingLoss(input1, input2, target, margin, reduction.code());
    }

    /**
     * Computes the mean of the negative log likelihood loss {@code -input[i, target[i]]}.
     *
     * @param input log probabilities of shape {@code (N, C)}, {@code (N, C, d1, ..., dK)} or {@code (C)}
     * @param target class indices in {@code [0, C)} of shape {@code (N)}, {@code (N, d1, ..., dK)} or {@code ()}
     * @return scalar tensor
     */
    public static Tensor nllLoss(Tensor input, Tensor target) {
        return nllLoss(input, target, null, Reduction.MEAN, -100);
    }

    /**
     * Computes the negative log likelihood loss {@code -weight[target[i]] * input[i, target[i]]}. The mean is weighted
     * by {@code weight}.
     *
     * @param input log probabilities of shape {@code (N, C)}, {@code (N, C, d1, ..., dK)} or {@code (C)}
     * @param target class indices in {@code [0, C)} of shape {@code (N)}, {@code (N, d1, ..., dK)} or {@code ()}
     * @param weight weights of the classes, of shape {@code (C)}, or null
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @param ignoreIndex target that does not contribute to the loss and the gradient (default -100)
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor nllLoss(Tensor input, Tensor target, @Nullable Tensor weight, Reduction reduction, long ignoreIndex) {
        return Torch.nllLossNd(input, target, weight, reduction.code(), ignoreIndex);
    }

    /**
     * Computes the mean cross-entropy of logits and targets: {@code nllLoss(logSoftmax(input), target)} for class
     * indices.
     *
     * @param input logits of shape {@code (N, C)}, {@code (N, C, d1, ..., dK)} or {@code (C)}
     * @param target class indices in {@code [0, C)} of shape {@code (N)}, {@code (N, d1, ..., dK)} or {@code ()}; or
     *     class probabilities of the same shape as {@code input}
     * @return scalar tensor
     */
    public static Tensor crossEntropy(Tensor input, Tensor target) {
        return Torch.crossEntropyLoss(input, target);
    }

    /**
     * Computes the cross-entropy of logits and targets: {@code nllLoss(logSoftmax(input), target)} for class indices.
     *
     * @param input logits of shape {@code (N, C)}, {@code (N, C, d1, ..., dK)} or {@code (C)}
     * @param target class indices in {@code [0, C)} of shape {@code (N)}, {@code (N, d1, ..., dK)} or {@code ()}; or
     *     class probabilities of the same shape as {@code input}
     * @param weight weights of the classes, of shape {@code (C)}, or null
     * @param reduction {@code NONE}, {@code MEAN} (default) or {@code SUM} of {@link org.rushlight.Reduction}
     * @param ignoreIndex class index that does not contribute to the loss and the gradient (default -100)
     * @param labelSmoothing fraction of each target that is distributed evenly over all classes, between 0 and 1
     *     (default 0)
     * @return scalar tensor, or one loss per sample for {@code Reduction.NONE}
     */
    public static Tensor crossEntropy(
            Tensor input, Tensor target, @Nullable Tensor weight, Reduction reduction, long ignoreIndex, double labelSmoothing) {
        return Torch.crossEntropyLoss(input, target, weight, reduction.code(), ignoreIndex, labelSmoothing);
    }

    /**
     * Computes the cosine similarity along a dimension: {@code x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))}.
     *
     * @param x1 first vectors
     * @param x2 second vectors, of a shape that broadcasts with that of {@code x1}
     * @param dim dimension of the vectors (default 1)
     * @param eps lower bound of the norms, to avoid division by zero (default 1e-8)
     * @return tensor of the broadcast shape without {@code dim}
     */
    public static Tensor cosineSimilarity(Tensor x1, Tensor x2, long dim, double eps) {
        return Torch.cosineSimilarity(x1, x2, dim, eps);
    }

    /**
     * Computes the p-norm of {@code x1 - x2 + eps} along the last dimension.
     *
     * @param x1 vectors of shape {@code (N, D)} or {@code (D)}
     * @param x2 vectors of the same shape, or of one that broadcasts
     * @param p degree of the norm (default 2)
     * @param eps constant added to the differences for numerical stability (default 1e-6)
     * @param keepdim whether to keep the last dimension with size 1 (default false)
     * @return tensor of shape {@code (N)} or {@code ()}; with {@code keepdim} {@code (N, 1)} or {@code (1)}
     */
    public static Tensor pairwiseDistance(Tensor x1, Tensor x2, double p, double eps, boolean keepdim) {
        return Torch.pairwiseDistance(x1, x2, p, eps, keepdim);
    }

    /**
     * Computes the p-norm distance of every pair of rows: the upper triangle of the distance matrix without its
     * diagonal.
     *
     * @param input tensor of shape {@code (N, M)}
     * @param p degree of the norm, non-negative (default 2)
     * @return tensor of shape {@code (N * (N - 1) / 2)}
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

    private static Tensor reduced(Tensor losses, Reduction reduction) {
        return reduction == Reduction.NONE ? losses : reduction == Reduction.SUM ? losses.sum() : losses.mean();
    }
}
