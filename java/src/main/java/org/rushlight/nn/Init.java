package org.rushlight.nn;

import org.rushlight.NoGrad;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/** Ways to initialise parameters: the same distributions, from the same random numbers, as {@code torch.nn.init}. */
public final class Init {
    private Init() {}

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
     * He initialisation, uniform, by the number of inputs and with a leaky ReLU of slope {@code a} behind the layer.
     *
     * @param weight what to fill, at least two-dimensional
     * @param a negative slope; sqrt(5) is what linear and convolutional layers start with
     * @return the tensor
     */
    public static Tensor kaimingUniform(Tensor weight, double a) {
        double gain = Math.sqrt(2.0 / (1 + a * a));
        double std = gain / Math.sqrt(fanIn(weight));
        double bound = Math.sqrt(3.0) * std;
        return uniform(weight, -bound, bound);
    }

    /**
     * Number of inputs that each output of a weight depends on.
     *
     * @param weight a weight, at least two-dimensional
     * @return the number
     */
    public static long fanIn(Tensor weight) {
        long[] shape = weight.shape();
        if (shape.length < 2) {
            throw new TensorValueException("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
        }
        long fan = 1;
        for (int i = 1; i < shape.length; i++) {
            fan *= shape[i];
        }
        return fan;
    }
}
