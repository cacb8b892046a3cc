package org.rushlight.nn;

import org.rushlight.Library;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Initializes parameters with the same distributions and random numbers as {@code torch.nn.init}.
 *
 * <pre>{@code
 * Tensor w = Torch.empty(2, 3).requiresGrad_(true);
 * Init.constant(w, 0.5); // without recording
 * System.out.println(w.detach().sum()); // tensor(3.)
 * }</pre>
 */
public final class Init {
    private Init() {}

    /** The fan that determines the standard deviation of a Kaiming initialization. */
    public enum FanMode {
        /** The fan-in: preserves the variance in the forward pass. */
        FAN_IN,
        /** The fan-out: preserves the variance in the backward pass. */
        FAN_OUT
    }

    /** The nonlinearity that follows a layer. */
    public enum Gain {
        /** None, or a convolution. */
        LINEAR,
        /** {@link Sigmoid}. */
        SIGMOID,
        /** {@link Tanh}. */
        TANH,
        /** {@link ReLU}. */
        RELU,
        /** {@link LeakyReLU}. */
        LEAKY_RELU,
        /** {@link SELU}. */
        SELU
    }

    /**
     * Fills with samples from the uniform distribution on {@code [from, to)}.
     *
     * @param tensor tensor to fill
     * @param from lower bound
     * @param to upper bound
     * @return the tensor
     */
    public static Tensor uniform(Tensor tensor, double from, double to) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            return tensor.uniform_(from, to);
        }
    }

    /**
     * Fills with samples from a normal distribution.
     *
     * @param tensor tensor to fill
     * @param mean mean
     * @param std standard deviation
     * @return the tensor
     */
    public static Tensor normal(Tensor tensor, double mean, double std) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            return tensor.normal_(mean, std);
        }
    }

    /**
     * Fills with samples from a truncated normal distribution.
     *
     * @param tensor tensor to fill
     * @param mean mean
     * @param std standard deviation
     * @param lower lower bound of the samples
     * @param upper upper bound of the samples
     * @return the tensor
     */
    public static Tensor truncNormal(Tensor tensor, double mean, double std, double lower, double upper) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            double low = normalCdf((lower - mean) / std);
            double high = normalCdf((upper - mean) / std);
            return tensor.uniform_(2 * low - 1, 2 * high - 1).erfinv_().mul_(std * Math.sqrt(2)).add_(mean).clamp_(lower, upper);
        }
    }

    /**
     * Fills with a constant.
     *
     * @param tensor tensor to fill
     * @param value the number
     * @return the tensor
     */
    public static Tensor constant(Tensor tensor, Number value) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            return tensor.fill_(value);
        }
    }

    /**
     * Fills with ones.
     *
     * @param tensor tensor to fill
     * @return the tensor
     */
    public static Tensor ones(Tensor tensor) {
        return constant(tensor, 1);
    }

    /**
     * Fills with zeros.
     *
     * @param tensor tensor to fill
     * @return the tensor
     */
    public static Tensor zeros(Tensor tensor) {
        return constant(tensor, 0);
    }

    /**
     * Fills a matrix with the identity matrix.
     *
     * @param tensor tensor to fill
     * @return the tensor
     */
    public static Tensor eye(Tensor tensor) {
        if (tensor.dim() != 2) {
            throw new TensorValueException("Only tensors with 2 dimensions are supported");
        }
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            return tensor.copy_(Torch.eye(tensor.size(0), tensor.size(1)));
        }
    }

    /**
     * Fills a convolution kernel with a Dirac delta, which preserves the channels.
     *
     * @param tensor tensor to fill
     * @param groups number of groups of channels
     * @return the tensor
     */
    public static Tensor dirac(Tensor tensor, long groups) {
        int dims = tensor.dim();
        if (dims < 3 || dims > 5) {
            throw new TensorValueException("Only tensors with 3, 4, or 5 dimensions are supported");
        }
        if (groups < 1 || tensor.size(0) % groups != 0) {
            throw new TensorValueException("dim 0 must be divisible by groups");
        }
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            tensor.zero_();
            Tensor middle = tensor;
            for (int i = 2; i < dims; i++) {
                middle = middle.select(2, tensor.size(i) / 2);
            }
            long each = tensor.size(0) / groups;
            for (long group = 0; group < groups; group++) {
                middle.narrow(0, group * each, each).diagonal().fill_(1);
            }
            return tensor;
        }
    }

    /**
     * Fills a matrix with samples from a normal distribution, and sets a fraction of each column to zero.
     *
     * @param tensor tensor to fill
     * @param sparsity fraction of zeros in each column
     * @param std standard deviation
     * @return the tensor
     */
    public static Tensor sparse(Tensor tensor, double sparsity, double std) {
        if (tensor.dim() != 2) {
            throw new TensorValueException("Only tensors with 2 dimensions are supported");
        }
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            long rows = tensor.size(0);
            long zeros = (long) Math.ceil(sparsity * rows);
            tensor.normal_(0, std);
            for (long column = 0; column < tensor.size(1); column++) {
                tensor.select(1, column).indexFill_(0, Torch.randperm(rows).narrow(0, 0, zeros), 0);
            }
            return tensor;
        }
    }

    /**
     * Fills with a (semi-)orthogonal matrix; dimensions after the first are flattened.
     *
     * @param tensor tensor to fill
     * @param gain scaling factor
     * @return the tensor
     */
    public static Tensor orthogonal(Tensor tensor, double gain) {
        if (tensor.dim() < 2) {
            throw new TensorValueException("Only tensors with 2 or more dimensions are supported");
        }
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            long rows = tensor.size(0);
            long columns = tensor.numel() / rows;
            Tensor matrix = Torch.randn(rows, columns);
            Object[] factors = Library.call("aten::linalg_qr", rows < columns ? matrix.t() : matrix, "reduced");
            Tensor q = ((Tensor) factors[0]).mul(((Tensor) factors[1]).diagonal().sign());
            Tensor result = rows < columns ? q.t() : q;
            tensor.viewAs(result).copy_(result);
            return tensor.mul_(gain);
        }
    }

    /**
     * Applies Kaiming uniform initialization with the fan-in and a leaky ReLU.
     *
     * @param weight tensor to fill, with at least two dimensions
     * @param a negative slope of the leaky ReLU that follows, 0 for a ReLU; linear and convolution layers start with
     *     sqrt(5)
     * @return the tensor
     */
    public static Tensor kaimingUniform(Tensor weight, double a) {
        return kaimingUniform(weight, a, FanMode.FAN_IN, Gain.LEAKY_RELU);
    }

    /**
     * Applies Kaiming uniform initialization. A weight without elements is left unchanged.
     *
     * @param weight tensor to fill, with at least two dimensions
     * @param a negative slope of the leaky ReLU that follows, 0 for a ReLU; linear and convolution layers start with
     *     sqrt(5)
     * @param mode whether to use the fan-in or the fan-out
     * @param nonlinearity nonlinearity that follows the layer
     * @return the tensor
     */
    public static Tensor kaimingUniform(Tensor weight, double a, FanMode mode, Gain nonlinearity) {
        if (weight.numel() == 0) {
            return weight;
        }
        double bound = Math.sqrt(3.0) * kaimingStd(weight, a, mode, nonlinearity);
        return uniform(weight, -bound, bound);
    }

    /**
     * Applies Kaiming normal initialization. A weight without elements is left unchanged.
     *
     * @param weight tensor to fill, with at least two dimensions
     * @param a negative slope of the leaky ReLU that follows, 0 for a ReLU; linear and convolution layers start with
     *     sqrt(5)
     * @param mode whether to use the fan-in or the fan-out
     * @param nonlinearity nonlinearity that follows the layer
     * @return the tensor
     */
    public static Tensor kaimingNormal(Tensor weight, double a, FanMode mode, Gain nonlinearity) {
        return weight.numel() == 0 ? weight : normal(weight, 0, kaimingStd(weight, a, mode, nonlinearity));
    }

    /**
     * Applies Xavier uniform initialization.
     *
     * @param weight tensor to fill, with at least two dimensions
     * @param gain scaling factor
     * @return the tensor
     */
    public static Tensor xavierUniform(Tensor weight, double gain) {
        double bound = Math.sqrt(3.0) * xavierStd(weight, gain);
        return uniform(weight, -bound, bound);
    }

    /**
     * Applies Xavier normal initialization.
     *
     * @param weight tensor to fill, with at least two dimensions
     * @param gain scaling factor
     * @return the tensor
     */
    public static Tensor xavierNormal(Tensor weight, double gain) {
        return normal(weight, 0, xavierStd(weight, gain));
    }

    /**
     * Returns the fan-in: the number of inputs on which each output depends.
     *
     * @param weight tensor to fill, with at least two dimensions
     * @return the number
     */
    public static long fanIn(Tensor weight) {
        return fans(weight)[0];
    }

    /**
     * Returns the fan-out: the number of outputs that depend on each input.
     *
     * @param weight tensor to fill, with at least two dimensions
     * @return the number
     */
    public static long fanOut(Tensor weight) {
        return fans(weight)[1];
    }

    /**
     * Returns the recommended gain for a nonlinearity.
     *
     * @param nonlinearity nonlinearity that follows the layer
     * @param parameter parameter of the nonlinearity (the slope of a leaky ReLU)
     * @return the gain
     */
    public static double calculateGain(Gain nonlinearity, double parameter) {
        return switch (nonlinearity) {
            case LINEAR, SIGMOID -> 1;
            case TANH -> 5.0 / 3;
            case RELU -> Math.sqrt(2);
            case LEAKY_RELU -> Math.sqrt(2 / (1 + parameter * parameter));
            case SELU -> 0.75;
        };
    }

    private static double kaimingStd(Tensor weight, double a, FanMode mode, Gain nonlinearity) {
        return calculateGain(nonlinearity, a) / Math.sqrt(mode == FanMode.FAN_IN ? fanIn(weight) : fanOut(weight));
    }

    private static double xavierStd(Tensor weight, double gain) {
        return gain * Math.sqrt(2.0 / (fanIn(weight) + fanOut(weight)));
    }

    /** The CDF of the standard normal distribution. */
    private static double normalCdf(double bound) {
        try (Tensor at = Tensor.of(new double[] {bound / Math.sqrt(2)}, new long[0]); Tensor erf = at.erf()) {
            return (1 + erf.item().doubleValue()) / 2;
        }
    }

    private static long[] fans(Tensor weight) {
        long[] shape = weight.shape();
        if (shape.length < 2) {
            throw new TensorValueException("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
        }
        long field = 1;
        for (int i = 2; i < shape.length; i++) {
            field *= shape[i];
        }
        return new long[] {shape[1] * field, shape[0] * field};
    }
}
