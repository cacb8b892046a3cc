package org.rushlight.nn;

import org.rushlight.Library;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Ways to initialise parameters: the same distributions, from the same random numbers, as {@code torch.nn.init}.
 *
 * <pre>{@code
 * Tensor w = Torch.empty(2, 3).requires_grad_(true);
 * Init.constant(w, 0.5); // without recording
 * System.out.println(w.detach().sum()); // tensor(3.)
 * }</pre>
 */
public final class Init {
    private Init() {}

    /** What the deviation of a He initialisation follows. */
    public enum FanMode {
        /** The number of inputs: activations keep their size. */
        FAN_IN,
        /** The number of outputs: gradients keep their size. */
        FAN_OUT
    }

    /** The function behind a layer. */
    public enum Gain {
        /** None; or a convolution. */
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
     * Fills with numbers uniform in {@code [from, to)}.
     *
     * @param tensor what to fill
     * @param from lower end
     * @param to upper end
     * @return the tensor
     */
    public static Tensor uniform(Tensor tensor, double from, double to) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            return tensor.uniform_(from, to);
        }
    }

    /**
     * Fills with normally distributed numbers.
     *
     * @param tensor what to fill
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
     * Fills with normally distributed numbers between two bounds.
     *
     * @param tensor what to fill
     * @param mean mean
     * @param std standard deviation
     * @param lower least number
     * @param upper largest number
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
     * Fills with one number.
     *
     * @param tensor what to fill
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
     * @param tensor what to fill
     * @return the tensor
     */
    public static Tensor ones(Tensor tensor) {
        return constant(tensor, 1);
    }

    /**
     * Fills with zeros.
     *
     * @param tensor what to fill
     * @return the tensor
     */
    public static Tensor zeros(Tensor tensor) {
        return constant(tensor, 0);
    }

    /**
     * Makes a matrix the identity.
     *
     * @param tensor what to fill
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
     * A kernel of a convolution that leaves channels as they are.
     *
     * @param tensor what to fill
     * @param groups groups of channels
     * @return the tensor
     */
    public static Tensor dirac(Tensor tensor, long groups) {
        int dims = tensor.dim();
        if (dims < 3 || dims > 5) {
            throw new TensorValueException("Only tensors with 3, 4, or 5 dimensions are supported");
        }
        if (tensor.size(0) % groups != 0) {
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
     * Fills a matrix with normally distributed numbers, and zeros in a share of each column.
     *
     * @param tensor what to fill
     * @param sparsity share of zeros in each column
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
                tensor.select(1, column).index_fill_(0, Torch.randperm(rows).narrow(0, 0, zeros), 0);
            }
            return tensor;
        }
    }

    /**
     * A matrix with orthogonal rows or columns; dimensions after the first count as columns. Needs the operator {@code linalg_qr}.
     *
     * @param tensor what to fill
     * @param gain factor
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
            tensor.view_as(result).copy_(result);
            return tensor.mul_(gain);
        }
    }

    /**
     * He initialisation, uniform, by the number of inputs and with a leaky ReLU behind the layer.
     *
     * @param weight what to fill, at least two-dimensional
     * @param a slope of the leaky ReLU behind the layer, 0 for a ReLU; sqrt(5) is what linear and convolutional layers start with
     * @return the tensor
     */
    public static Tensor kaimingUniform(Tensor weight, double a) {
        return kaimingUniform(weight, a, FanMode.FAN_IN, Gain.LEAKY_RELU);
    }

    /**
     * He initialisation, uniform. A weight without elements stays as it is.
     *
     * @param weight what to fill, at least two-dimensional
     * @param a slope of the leaky ReLU behind the layer, 0 for a ReLU; sqrt(5) is what linear and convolutional layers start with
     * @param mode whether inputs or outputs are counted
     * @param nonlinearity the function behind the layer
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
     * He initialisation, normal. A weight without elements stays as it is.
     *
     * @param weight what to fill, at least two-dimensional
     * @param a slope of the leaky ReLU behind the layer, 0 for a ReLU; sqrt(5) is what linear and convolutional layers start with
     * @param mode whether inputs or outputs are counted
     * @param nonlinearity the function behind the layer
     * @return the tensor
     */
    public static Tensor kaimingNormal(Tensor weight, double a, FanMode mode, Gain nonlinearity) {
        return weight.numel() == 0 ? weight : normal(weight, 0, kaimingStd(weight, a, mode, nonlinearity));
    }

    /**
     * Glorot initialisation, uniform.
     *
     * @param weight what to fill, at least two-dimensional
     * @param gain factor
     * @return the tensor
     */
    public static Tensor xavierUniform(Tensor weight, double gain) {
        double bound = Math.sqrt(3.0) * xavierStd(weight, gain);
        return uniform(weight, -bound, bound);
    }

    /**
     * Glorot initialisation, normal.
     *
     * @param weight what to fill, at least two-dimensional
     * @param gain factor
     * @return the tensor
     */
    public static Tensor xavierNormal(Tensor weight, double gain) {
        return normal(weight, 0, xavierStd(weight, gain));
    }

    /**
     * Number of inputs that each output of a weight depends on.
     *
     * @param weight what to fill, at least two-dimensional
     * @return the number
     */
    public static long fanIn(Tensor weight) {
        return fans(weight)[0];
    }

    /**
     * Number of outputs that depend on each input of a weight.
     *
     * @param weight what to fill, at least two-dimensional
     * @return the number
     */
    public static long fanOut(Tensor weight) {
        return fans(weight)[1];
    }

    /**
     * By how much a function shrinks what goes through it: the factor that makes up for it.
     *
     * @param nonlinearity the function behind the layer
     * @param parameter its parameter (the slope of a leaky ReLU)
     * @return the factor
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

    /** The share of normal numbers below a bound, by the operator for it. */
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
