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
     * {@code x}, or {@code alpha (exp(x) - 1)} below zero.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor elu(Tensor input) {
        return Torch.elu(input);
    }

    /**
     * {@code x}, or {@code alpha (exp(x) - 1)} below zero.
     *
     * @param input any shape
     * @param alpha factor of {@code exp(x) - 1} below zero
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor elu(Tensor input, double alpha, boolean inplace) {
        return inplace ? Torch.elu_(input, alpha) : Torch.elu(input, alpha);
    }

    /**
     * ELU with constants that keep mean and variance.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor selu(Tensor input) {
        return Torch.selu(input);
    }

    /**
     * ELU with constants that keep mean and variance.
     *
     * @param input any shape
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor selu(Tensor input, boolean inplace) {
        return inplace ? Torch.selu_(input) : Torch.selu(input);
    }

    /**
     * {@code max(0, x) + min(0, alpha (exp(x / alpha) - 1))}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor celu(Tensor input) {
        return Torch.celu(input);
    }

    /**
     * {@code max(0, x) + min(0, alpha (exp(x / alpha) - 1))}.
     *
     * @param input any shape
     * @param alpha factor of {@code exp(x) - 1} below zero
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor celu(Tensor input, double alpha, boolean inplace) {
        return inplace ? Torch.celu_(input, alpha) : Torch.celu(input, alpha);
    }

    /**
     * {@code max(x, 0)}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor relu(Tensor input) {
        return Torch.relu(input);
    }

    /**
     * {@code max(x, 0)}.
     *
     * @param input any shape
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor relu(Tensor input, boolean inplace) {
        return inplace ? Torch.relu_(input) : Torch.relu(input);
    }

    /**
     * {@code x}, held between 0 and 6.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor relu6(Tensor input) {
        return Torch.relu6(input);
    }

    /**
     * {@code x}, held between 0 and 6.
     *
     * @param input any shape
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor relu6(Tensor input, boolean inplace) {
        return inplace ? Torch.relu6_(input) : Torch.relu6(input);
    }

    /**
     * {@code x}, or a part of it below zero.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor leakyRelu(Tensor input) {
        return Torch.leaky_relu(input);
    }

    /**
     * {@code x}, or a part of it below zero.
     *
     * @param input any shape
     * @param negativeSlope factor of negative elements
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor leakyRelu(Tensor input, double negativeSlope, boolean inplace) {
        return inplace ? Torch.leaky_relu_(input, negativeSlope) : Torch.leaky_relu(input, negativeSlope);
    }

    /**
     * {@code x}, held between two bounds.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor hardtanh(Tensor input) {
        return Torch.hardtanh(input);
    }

    /**
     * {@code x}, held between two bounds.
     *
     * @param input any shape
     * @param minVal lower bound
     * @param maxVal upper bound
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor hardtanh(Tensor input, double minVal, double maxVal, boolean inplace) {
        return inplace ? Torch.hardtanh_(input, minVal, maxVal) : Torch.hardtanh(input, minVal, maxVal);
    }

    /**
     * {@code x} where it is above the threshold, else a value.
     *
     * @param input any shape
     * @param threshold bound
     * @param value the number
     * @return the result
     */
    public static Tensor threshold(Tensor input, double threshold, double value) {
        return Torch.threshold(input, threshold, value);
    }

    /**
     * {@code x} where it is above the threshold, else a value.
     *
     * @param input any shape
     * @param threshold bound
     * @param value the number
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor threshold(Tensor input, double threshold, double value, boolean inplace) {
        return inplace ? Torch.threshold_(input, threshold, value) : Torch.threshold(input, threshold, value);
    }

    /**
     * Leaky ReLU with random slopes, or with their mean.
     *
     * @param input any shape
     * @param lower lower bound of the random slope
     * @param upper upper bound of the random slope
     * @param training draw, or pass the input on
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor rrelu(Tensor input, double lower, double upper, boolean training, boolean inplace) {
        Tensor result = Torch.rrelu(inplace ? input.clone() : input, lower, upper, training);
        return inplace ? input.copy_(result) : result;
    }

    /**
     * {@code x}, or a learned part of it below zero.
     *
     * @param input any shape
     * @param weight the weight
     * @return the result
     */
    public static Tensor prelu(Tensor input, Tensor weight) {
        return Torch.prelu(input, weight);
    }

    /**
     * Zero between {@code -lambda} and {@code lambda}.
     *
     * @param input any shape
     * @param lambda bound
     * @return the result
     */
    public static Tensor hardshrink(Tensor input, double lambda) {
        return Torch.hardshrink(input, lambda);
    }

    /**
     * {@code x}, moved towards zero by lambda.
     *
     * @param input any shape
     * @param lambda bound
     * @return the result
     */
    public static Tensor softshrink(Tensor input, double lambda) {
        return Torch.softshrink(input, lambda);
    }

    /**
     * {@code x - tanh(x)}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor tanhshrink(Tensor input) {
        return input.sub(input.tanh());
    }

    /**
     * {@code x / (1 + |x|)}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor softsign(Tensor input) {
        return input.div(input.abs().add(1));
    }

    /**
     * {@code log(1 + exp(beta x)) / beta}, or {@code x} where {@code beta x} is above the threshold.
     *
     * @param input any shape
     * @param beta factor of the input
     * @param threshold bound
     * @return the result
     */
    public static Tensor softplus(Tensor input, double beta, double threshold) {
        return Torch.softplus(input, beta, threshold);
    }

    /**
     * {@code log(1 + exp(x))}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor softplus(Tensor input) {
        return Torch.softplus(input);
    }

    /**
     * The logarithm of the sigmoid.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor logsigmoid(Tensor input) {
        return Torch.log_sigmoid(input);
    }

    /**
     * {@code 1 / (1 + exp(-x))}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor sigmoid(Tensor input) {
        return input.sigmoid();
    }

    /**
     * A sigmoid made of three lines.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor hardsigmoid(Tensor input) {
        return Torch.hardsigmoid(input);
    }

    /**
     * {@code x hardsigmoid(x)}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor hardswish(Tensor input) {
        return Torch.hardswish(input);
    }

    /**
     * The hyperbolic tangent.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor tanh(Tensor input) {
        return input.tanh();
    }

    /**
     * {@code x} times the probability of a normal number below it.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor gelu(Tensor input) {
        return Torch.gelu(input);
    }

    /**
     * {@code x} times the probability of a normal number below it.
     *
     * @param input any shape
     * @param approximate {@code none} or {@code tanh}
     * @return the result
     */
    public static Tensor gelu(Tensor input, String approximate) {
        return Torch.gelu(input, approximate);
    }

    /**
     * {@code x sigmoid(x)}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor silu(Tensor input) {
        return Torch.silu(input);
    }

    /**
     * {@code x tanh(softplus(x))}.
     *
     * @param input any shape
     * @return the result
     */
    public static Tensor mish(Tensor input) {
        return Torch.mish(input);
    }

    /**
     * The first half of a dimension times the sigmoid of the second.
     *
     * @param input any shape
     * @param dim dimension
     * @return the result
     */
    public static Tensor glu(Tensor input, long dim) {
        return Torch.glu(input, dim);
    }

    /**
     * {@code exp(x) / sum(exp(x))} along a dimension.
     *
     * @param input any shape
     * @param dim dimension
     * @return the result
     */
    public static Tensor softmax(Tensor input, long dim) {
        return Torch.softmax(input, dim);
    }

    /**
     * {@code exp(x) / sum(exp(x))} along a dimension.
     *
     * @param input any shape
     * @param dim dimension
     * @param dtype dtype to compute in, or null for that of the input
     * @return the result
     */
    public static Tensor softmax(Tensor input, long dim, @Nullable DType dtype) {
        return Torch.softmax(input, dim, dtype);
    }

    /**
     * Softmax of {@code -x}.
     *
     * @param input any shape
     * @param dim dimension
     * @return the result
     */
    public static Tensor softmin(Tensor input, long dim) {
        return Torch.softmax(input.neg(), dim);
    }

    /**
     * Softmax of {@code -x}.
     *
     * @param input any shape
     * @param dim dimension
     * @param dtype dtype to compute in, or null for that of the input
     * @return the result
     */
    public static Tensor softmin(Tensor input, long dim, @Nullable DType dtype) {
        return Torch.softmax(input.neg(), dim, dtype);
    }

    /**
     * The logarithm of softmax along a dimension.
     *
     * @param input any shape
     * @param dim dimension
     * @return the result
     */
    public static Tensor logSoftmax(Tensor input, long dim) {
        return Torch.log_softmax(input, dim);
    }

    /**
     * The logarithm of softmax along a dimension.
     *
     * @param input any shape
     * @param dim dimension
     * @param dtype dtype to compute in, or null for that of the input
     * @return the result
     */
    public static Tensor logSoftmax(Tensor input, long dim, @Nullable DType dtype) {
        return Torch.log_softmax(input, dim, dtype);
    }

    /**
     * Draws from the categories of scores, differentiably: softmax of the scores and Gumbel noise.
     *
     * @param logits scores
     * @param tau temperature
     * @param hard return one-hot vectors
     * @param dim dimension
     * @return the result
     */
    public static Tensor gumbelSoftmax(Tensor logits, double tau, boolean hard, long dim) {
        Tensor noise = Torch.empty_like(logits).exponential_().log().neg();
        Tensor soft = Torch.softmax(logits.add(noise).div(tau), dim);
        if (!hard) {
            return soft;
        }
        Tensor oneHot = Torch.zeros_like(logits).scatter_(dim, soft.max(dim, true).indices(), 1.0);
        return oneHot.sub(soft.detach()).add(soft);
    }

    /**
     * Sets elements to zero with a probability while training, and scales the others.
     *
     * @param input any shape
     * @param p probability of an element to become zero
     * @param training draw, or pass the input on
     * @return the result
     */
    public static Tensor dropout(Tensor input, double p, boolean training) {
        return dropout(input, p, training, false);
    }

    /**
     * Sets elements to zero with a probability while training, and scales the others.
     *
     * @param input any shape
     * @param p probability of an element to become zero
     * @param training draw, or pass the input on
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor dropout(Tensor input, double p, boolean training, boolean inplace) {
        checkProbability(p);
        return inplace ? Torch.dropout_(input, p, training) : Torch.dropout(input, p, training);
    }

    /**
     * Dropout of whole channels of 2 dimensions.
     *
     * @param input any shape
     * @param p probability of an element to become zero
     * @param training draw, or pass the input on
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor dropout2d(Tensor input, double p, boolean training, boolean inplace) {
        return dropoutChannels(input, 4, p, training, inplace);
    }

    /**
     * Dropout of whole channels of 3 dimensions.
     *
     * @param input any shape
     * @param p probability of an element to become zero
     * @param training draw, or pass the input on
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor dropout3d(Tensor input, double p, boolean training, boolean inplace) {
        return dropoutChannels(input, 5, p, training, inplace);
    }

    /**
     * Dropout that keeps mean and variance of what SELU returns.
     *
     * @param input any shape
     * @param p probability of an element to become zero
     * @param training draw, or pass the input on
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor alphaDropout(Tensor input, double p, boolean training, boolean inplace) {
        checkProbability(p);
        Tensor result = Torch.alpha_dropout(input, p, training);
        return inplace ? input.copy_(result) : result;
    }

    /**
     * {@link #alphaDropout} of whole channels.
     *
     * @param input any shape
     * @param p probability of an element to become zero
     * @param training draw, or pass the input on
     * @param inplace write over the input
     * @return the result
     */
    public static Tensor featureAlphaDropout(Tensor input, double p, boolean training, boolean inplace) {
        checkProbability(p);
        Tensor result = Torch.feature_alpha_dropout(input, p, training);
        return inplace ? input.copy_(result) : result;
    }

    /** A probability, or an error. */
    static void checkProbability(double p) {
        if (!(p >= 0 && p <= 1)) {
            throw new TensorValueException("dropout probability has to be between 0 and 1, but got " + p);
        }
    }

    /** Without a dimension for the batch, the input is a batch of one. */
    private static Tensor dropoutChannels(Tensor input, int batchedDim, double p, boolean training, boolean inplace) {
        checkProbability(p);
        Tensor result = input.dim() == batchedDim
            ? Torch.feature_dropout(input, p, training)
            : Torch.feature_dropout(input.unsqueeze(0), p, training).squeeze(0);
        return inplace ? input.copy_(result) : result;
    }
}
