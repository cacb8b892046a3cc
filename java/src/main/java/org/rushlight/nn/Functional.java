package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/** Layers and losses as functions, as in {@code torch.nn.functional}. */
public final class Functional {
    private Functional() {}

    /**
     * {@code x W^T + b}.
     *
     * @param input {@code (*, in)}
     * @param weight {@code (out, in)}
     * @param bias {@code (out)}, or null
     * @return {@code (*, out)}
     */
    public static Tensor linear(Tensor input, Tensor weight, Tensor bias) {
        return Torch.linear(input, weight, bias);
    }

    /**
     * {@code max(x, 0)}.
     *
     * @param input any shape
     * @return the same shape
     */
    public static Tensor relu(Tensor input) {
        return input.relu();
    }

    /**
     * {@code log(exp(x) / sum(exp(x)))} along a dimension.
     *
     * @param input any shape
     * @param dim dimension
     * @return the same shape
     */
    public static Tensor logSoftmax(Tensor input, long dim) {
        return input.log_softmax(dim);
    }

    /**
     * {@code exp(x) / sum(exp(x))} along a dimension.
     *
     * @param input any shape
     * @param dim dimension
     * @return the same shape
     */
    public static Tensor softmax(Tensor input, long dim) {
        return input.softmax(dim);
    }

    /**
     * Negative log likelihood: the mean of {@code -input[i, target[i]]}.
     *
     * @param input log probabilities, {@code (N, C)}
     * @param target classes, {@code (N)} of int64
     * @return a scalar
     */
    public static Tensor nllLoss(Tensor input, Tensor target) {
        return nllLoss(input, target, null, Reduction.MEAN, -100);
    }

    /**
     * Negative log likelihood.
     *
     * @param input log probabilities, {@code (N, C, ...)}
     * @param target classes, {@code (N, ...)} of int64
     * @param weight weight of each class, or null
     * @param reduction one of {@link Reduction}
     * @param ignoreIndex class that does not count
     * @return a scalar, or one loss per sample
     */
    public static Tensor nllLoss(Tensor input, Tensor target, Tensor weight, long reduction, long ignoreIndex) {
        return Torch.nll_loss_nd(input, target, weight, reduction, ignoreIndex);
    }

    /**
     * Cross entropy of raw scores: the mean of {@code nllLoss(logSoftmax(input))}.
     *
     * @param input scores, {@code (N, C)}
     * @param target classes, {@code (N)} of int64
     * @return a scalar
     */
    public static Tensor crossEntropy(Tensor input, Tensor target) {
        return Torch.cross_entropy_loss(input, target);
    }

    /**
     * Sets elements to zero with a probability while training, and scales the others.
     *
     * @param input any shape
     * @param p probability of an element to become zero
     * @param training false passes the input on
     * @return the same shape
     */
    public static Tensor dropout(Tensor input, double p, boolean training) {
        return Torch.dropout(input, p, training);
    }
}
