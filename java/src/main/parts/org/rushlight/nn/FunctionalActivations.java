package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Activations and dropout: part of {@link Functional}. */
public abstract class FunctionalActivations {
    FunctionalActivations() {}

    /**
     * Applies ELU element-wise with {@code alpha = 1}: {@code x} if {@code x > 0}, else {@code exp(x) - 1}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor elu(Tensor input) {
        return Torch.elu(input);
    }

    /**
     * Applies ELU element-wise: {@code x} if {@code x > 0}, else {@code alpha * (exp(x) - 1)}.
     *
     * @param input tensor of any shape
     * @param alpha {@code alpha} of the formula (default 1)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor elu(Tensor input, double alpha, boolean inplace) {
        return inplace ? Torch.elu_(input, alpha) : Torch.elu(input, alpha);
    }

    /**
     * Applies SELU element-wise: {@code scale * (max(0, x) + min(0, alpha * (exp(x) - 1)))}, with constants that
     * preserve mean 0 and variance 1.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor selu(Tensor input) {
        return Torch.selu(input);
    }

    /**
     * Applies SELU element-wise: {@code scale * (max(0, x) + min(0, alpha * (exp(x) - 1)))}, with constants that
     * preserve mean 0 and variance 1.
     *
     * @param input tensor of any shape
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor selu(Tensor input, boolean inplace) {
        return inplace ? Torch.selu_(input) : Torch.selu(input);
    }

    /**
     * Applies CELU element-wise with {@code alpha = 1}: {@code max(0, x) + min(0, exp(x) - 1)}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor celu(Tensor input) {
        return Torch.celu(input);
    }

    /**
     * Applies CELU element-wise: {@code max(0, x) + min(0, alpha * (exp(x / alpha) - 1))}.
     *
     * @param input tensor of any shape
     * @param alpha {@code alpha} of the formula (default 1)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor celu(Tensor input, double alpha, boolean inplace) {
        return inplace ? Torch.celu_(input, alpha) : Torch.celu(input, alpha);
    }

    /**
     * Applies ReLU element-wise: {@code max(0, x)}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor relu(Tensor input) {
        return Torch.relu(input);
    }

    /**
     * Applies ReLU element-wise: {@code max(0, x)}.
     *
     * @param input tensor of any shape
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor relu(Tensor input, boolean inplace) {
        return inplace ? Torch.relu_(input) : Torch.relu(input);
    }

    /**
     * Applies ReLU6 element-wise: {@code min(max(0, x), 6)}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor relu6(Tensor input) {
        return Torch.relu6(input);
    }

    /**
     * Applies ReLU6 element-wise: {@code min(max(0, x), 6)}.
     *
     * @param input tensor of any shape
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor relu6(Tensor input, boolean inplace) {
        return inplace ? Torch.relu6_(input) : Torch.relu6(input);
    }

    /**
     * Applies leaky ReLU element-wise with slope 0.01: {@code max(0, x) + 0.01 * min(0, x)}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor leakyRelu(Tensor input) {
        return Torch.leakyRelu(input);
    }

    /**
     * Applies leaky ReLU element-wise: {@code max(0, x) + negativeSlope * min(0, x)}.
     *
     * @param input tensor of any shape
     * @param negativeSlope slope for negative elements (default 0.01)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor leakyRelu(Tensor input, double negativeSlope, boolean inplace) {
        return inplace ? Torch.leakyRelu_(input, negativeSlope) : Torch.leakyRelu(input, negativeSlope);
    }

    /**
     * Clamps each element to [-1, 1].
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor hardtanh(Tensor input) {
        return Torch.hardtanh(input);
    }

    /**
     * Clamps each element to {@code [minVal, maxVal]}.
     *
     * @param input tensor of any shape
     * @param minVal lower bound (default -1)
     * @param maxVal upper bound (default 1)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor hardtanh(Tensor input, double minVal, double maxVal, boolean inplace) {
        return inplace ? Torch.hardtanh_(input, minVal, maxVal) : Torch.hardtanh(input, minVal, maxVal);
    }

    /**
     * Returns {@code x} where {@code x > threshold}, and {@code value} elsewhere.
     *
     * @param input tensor of any shape
     * @param threshold threshold
     * @param value replacement for elements that are not above the threshold
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor threshold(Tensor input, double threshold, double value) {
        return Torch.threshold(input, threshold, value);
    }

    /**
     * Returns {@code x} where {@code x > threshold}, and {@code value} elsewhere.
     *
     * @param input tensor of any shape
     * @param threshold threshold
     * @param value replacement for elements that are not above the threshold
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor threshold(Tensor input, double threshold, double value, boolean inplace) {
        return inplace ? Torch.threshold_(input, threshold, value) : Torch.threshold(input, threshold, value);
    }

    /**
     * Applies randomized leaky ReLU element-wise: the slope for negative elements is sampled from [lower, upper] in
     * training and is the mean of the two bounds otherwise.
     *
     * @param input tensor of any shape
     * @param lower lower bound of the slope (default 1/8)
     * @param upper upper bound of the slope (default 1/3)
     * @param training whether to sample the slopes (default false)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor rrelu(Tensor input, double lower, double upper, boolean training, boolean inplace) {
        Tensor result = Torch.rrelu(inplace ? input.clone() : input, lower, upper, training);
        return inplace ? input.copy_(result) : result;
    }

    /**
     * Applies {@code max(0, x) + weight * min(0, x)} element-wise, with a learnable slope.
     *
     * @param input tensor of shape {@code (N, C, *)} or any shape if {@code weight} has one element
     * @param weight slopes for negative elements: one number, or shape {@code (C)} for one per channel
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor prelu(Tensor input, Tensor weight) {
        return Torch.prelu(input, weight);
    }

    /**
     * Applies hard shrinkage element-wise: 0 where {@code |x| <= lambda}, else {@code x}.
     *
     * @param input tensor of any shape
     * @param lambda half of the width of the interval that becomes zero (default 0.5)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor hardshrink(Tensor input, double lambda) {
        return Torch.hardshrink(input, lambda);
    }

    /**
     * Applies soft shrinkage element-wise: {@code x - lambda} above {@code lambda}, {@code x + lambda} below {@code
     * -lambda}, else 0.
     *
     * @param input tensor of any shape
     * @param lambda non-negative distance by which elements move towards zero (default 0.5)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softshrink(Tensor input, double lambda) {
        return Torch.softshrink(input, lambda);
    }

    /**
     * Applies {@code x - tanh(x)} element-wise.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor tanhshrink(Tensor input) {
        return input.sub(input.tanh());
    }

    /**
     * Applies softsign element-wise: {@code x / (1 + |x|)}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softsign(Tensor input) {
        return input.div(input.abs().add(1));
    }

    /**
     * Applies softplus element-wise: {@code log(1 + exp(beta * x)) / beta}, or {@code x} where {@code beta * x >
     * threshold}.
     *
     * @param input tensor of any shape
     * @param beta sharpness {@code beta} (default 1)
     * @param threshold value of {@code beta * x} above which the function is linear (default 20)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softplus(Tensor input, double beta, double threshold) {
        return Torch.softplus(input, beta, threshold);
    }

    /**
     * Applies softplus element-wise with {@code beta = 1} and a threshold of 20: {@code log(1 + exp(x))}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softplus(Tensor input) {
        return Torch.softplus(input);
    }

    /**
     * Applies the logarithm of the sigmoid element-wise: {@code log(1 / (1 + exp(-x)))}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor logsigmoid(Tensor input) {
        return Torch.logSigmoid(input);
    }

    /**
     * Applies the logistic sigmoid element-wise: {@code 1 / (1 + exp(-x))}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor sigmoid(Tensor input) {
        return input.sigmoid();
    }

    /**
     * Applies the hard sigmoid element-wise: {@code min(max(0, x + 3), 6) / 6}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor hardsigmoid(Tensor input) {
        return Torch.hardsigmoid(input);
    }

    /**
     * Applies hard swish element-wise: {@code x * min(max(0, x + 3), 6) / 6}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor hardswish(Tensor input) {
        return Torch.hardswish(input);
    }

    /**
     * Applies the hyperbolic tangent element-wise.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor tanh(Tensor input) {
        return input.tanh();
    }

    /**
     * Applies the Gaussian Error Linear Unit element-wise: {@code x * Φ(x)}, where {@code Φ} is the CDF of the standard
     * normal distribution.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor gelu(Tensor input) {
        return Torch.gelu(input);
    }

    /**
     * Applies the Gaussian Error Linear Unit element-wise: {@code x * Φ(x)}, where {@code Φ} is the CDF of the standard
     * normal distribution, or its approximation by tanh.
     *
     * @param input tensor of any shape
     * @param approximate the formula
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor gelu(Tensor input, GELUApproximation approximate) {
        return Torch.gelu(input, approximate.word);
    }

    /**
     * Applies the Sigmoid Linear Unit (swish) element-wise: {@code x * sigmoid(x)}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor silu(Tensor input) {
        return Torch.silu(input);
    }

    /**
     * Applies Mish element-wise: {@code x * tanh(softplus(x))}.
     *
     * @param input tensor of any shape
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor mish(Tensor input) {
        return Torch.mish(input);
    }

    /**
     * Applies the gated linear unit: {@code a * sigmoid(b)}, where {@code a} and {@code b} are the halves of {@code
     * input} along {@code dim}.
     *
     * @param input tensor of any shape
     * @param dim dimension to split in half, of even size (default -1)
     * @return tensor whose size along {@code dim} is half of the input's
     */
    public static Tensor glu(Tensor input, long dim) {
        return Torch.glu(input, dim);
    }

    /**
     * Applies softmax along a dimension: {@code exp(x) / sum(exp(x))}.
     *
     * @param input tensor of any shape
     * @param dim dimension along which the elements sum to 1
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softmax(Tensor input, long dim) {
        return Torch.softmax(input, dim);
    }

    /**
     * Applies softmax along a dimension: {@code exp(x) / sum(exp(x))}.
     *
     * @param input tensor of any shape
     * @param dim dimension along which the elements sum to 1
     * @param dtype dtype to which {@code input} is converted before the computation, or null for its own
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softmax(Tensor input, long dim, @Nullable DType dtype) {
        return Torch.softmax(input, dim, dtype);
    }

    /**
     * Applies softmin along a dimension: the softmax of {@code -x}.
     *
     * @param input tensor of any shape
     * @param dim dimension along which the elements sum to 1
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softmin(Tensor input, long dim) {
        return Torch.softmax(input.neg(), dim);
    }

    /**
     * Applies softmin along a dimension: the softmax of {@code -x}.
     *
     * @param input tensor of any shape
     * @param dim dimension along which the elements sum to 1
     * @param dtype dtype to which {@code input} is converted before the computation, or null for its own
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor softmin(Tensor input, long dim, @Nullable DType dtype) {
        return Torch.softmax(input.neg(), dim, dtype);
    }

    /**
     * Applies the logarithm of softmax along a dimension.
     *
     * @param input tensor of any shape
     * @param dim dimension along which softmax is computed
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor logSoftmax(Tensor input, long dim) {
        return Torch.logSoftmax(input, dim);
    }

    /**
     * Applies the logarithm of softmax along a dimension.
     *
     * @param input tensor of any shape
     * @param dim dimension along which softmax is computed
     * @param dtype dtype to which {@code input} is converted before the computation, or null for its own
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor logSoftmax(Tensor input, long dim, @Nullable DType dtype) {
        return Torch.logSoftmax(input, dim, dtype);
    }

    /**
     * Samples from the Gumbel-softmax distribution: the softmax of {@code (logits + Gumbel noise) / tau}.
     *
     * @param logits unnormalized log probabilities of shape {@code (*, num_classes)}
     * @param tau temperature, greater than 0 (default 1)
     * @param hard whether to return one-hot vectors, with the gradient of the soft samples (default false)
     * @param dim dimension of the classes (default -1)
     * @return samples of the same shape as {@code logits}
     */
    public static Tensor gumbelSoftmax(Tensor logits, double tau, boolean hard, long dim) {
        Tensor noise = Torch.emptyLike(logits).exponential_().log().neg();
        Tensor soft = Torch.softmax(logits.add(noise).div(tau), dim);
        if (!hard) {
            return soft;
        }
        Tensor oneHot = Torch.zerosLike(logits).scatter_(dim, soft.max(dim, true).indices(), 1.0);
        return oneHot.sub(soft.detach()).add(soft);
    }

    /**
     * In training, sets each element to zero with probability {@code p} and multiplies the others by {@code 1 / (1 -
     * p)}.
     *
     * @param input tensor of any shape
     * @param p probability of an element to be zeroed (default 0.5)
     * @param training whether to drop elements; if false, {@code input} is returned unchanged (default true)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor dropout(Tensor input, double p, boolean training) {
        return dropout(input, p, training, false);
    }

    /**
     * In training, sets each element to zero with probability {@code p} and multiplies the others by {@code 1 / (1 -
     * p)}.
     *
     * @param input tensor of any shape
     * @param p probability of an element to be zeroed (default 0.5)
     * @param training whether to drop elements; if false, {@code input} is returned unchanged (default true)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor dropout(Tensor input, double p, boolean training, boolean inplace) {
        checkProbability(p);
        return inplace ? Torch.dropout_(input, p, training) : Torch.dropout(input, p, training);
    }

    /**
     * In training, sets whole channels to zero with probability {@code p} and multiplies the others by {@code 1 / (1 -
     * p)}.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param p probability of a channel to be zeroed (default 0.5)
     * @param training whether to drop channels; if false, {@code input} is returned unchanged (default true)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor dropout2d(Tensor input, double p, boolean training, boolean inplace) {
        return dropoutChannels(input, 4, p, training, inplace);
    }

    /**
     * In training, sets whole channels to zero with probability {@code p} and multiplies the others by {@code 1 / (1 -
     * p)}.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param p probability of a channel to be zeroed (default 0.5)
     * @param training whether to drop channels; if false, {@code input} is returned unchanged (default true)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor dropout3d(Tensor input, double p, boolean training, boolean inplace) {
        return dropoutChannels(input, 5, p, training, inplace);
    }

    /**
     * Applies alpha dropout, which preserves the mean and variance of the output of {@link #selu}.
     *
     * @param input tensor of any shape
     * @param p probability of an element to be dropped, that is, set to the negative saturation value of SELU (default
     *     0.5)
     * @param training whether to drop elements; if false, {@code input} is returned unchanged (default false)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor alphaDropout(Tensor input, double p, boolean training, boolean inplace) {
        checkProbability(p);
        Tensor result = Torch.alphaDropout(input, p, training);
        return inplace ? input.copy_(result) : result;
    }

    /**
     * Applies alpha dropout to whole channels.
     *
     * @param input tensor of shape {@code (N, C, *)}
     * @param p probability of a channel to be dropped, that is, set to the negative saturation value of SELU (default
     *     0.5)
     * @param training whether to drop channels; if false, {@code input} is returned unchanged (default false)
     * @param inplace whether to overwrite {@code input} (default false)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor featureAlphaDropout(Tensor input, double p, boolean training, boolean inplace) {
        checkProbability(p);
        Tensor result = Torch.featureAlphaDropout(input, p, training);
        return inplace ? input.copy_(result) : result;
    }

    /** Throws unless {@code p} is between 0 and 1. */
    static void checkProbability(double p) {
        if (!(p >= 0 && p <= 1)) {
            throw new TensorValueException("dropout probability has to be between 0 and 1, but got " + p);
        }
    }

    /** Drops whole channels; an input without a batch dimension is treated as a batch of one. */
    private static Tensor dropoutChannels(Tensor input, int batchedDim, double p, boolean training, boolean inplace) {
        checkProbability(p);
        Tensor result = input.dim() == batchedDim
            ? Torch.featureDropout(input, p, training)
            : Torch.featureDropout(input.unsqueeze(0), p, training).squeeze(0);
        return inplace ? input.copy_(result) : result;
    }
}
