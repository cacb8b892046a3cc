package org.rushlight.data;

import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.rushlight.DType;
import org.rushlight.Tensor;

/**
 * Transforms of examples, for {@link Dataset#map}.
 *
 * <pre>{@code
 * java.util.function.UnaryOperator<Tensor> normalize = Transforms.normalize(0.5, 0.5);
 * System.out.println(normalize.apply(Tensor.of(0f, 1f))); // tensor([-1.,  1.])
 * }</pre>
 */
public final class Transforms {
    private Transforms() {}

    /**
     * Transforms the data and keeps the target.
     *
     * @param transform transform of the data
     * @return a transform of examples
     */
    public static Function<Example, Example> data(UnaryOperator<Tensor> transform) {
        return example -> new Example(transform.apply(example.data()), example.target());
    }

    /**
     * Transforms the target and keeps the data.
     *
     * @param transform transform of the target
     * @return a transform of examples
     */
    public static Function<Example, Example> target(UnaryOperator<Tensor> transform) {
        return example -> new Example(example.data(), transform.apply(example.target()));
    }

    /**
     * Normalizes: {@code (x - mean) / deviation}.
     *
     * @param mean the mean
     * @param deviation the standard deviation
     * @return a transform of tensors
     */
    public static UnaryOperator<Tensor> normalize(double mean, double deviation) {
        return tensor -> tensor.sub(mean).div(deviation);
    }

    /**
     * Normalizes each channel of an image of shape {@code (C, H, W)}: {@code (x - mean) / deviation}.
     *
     * @param mean the mean of each channel
     * @param deviation the standard deviation of each channel
     * @return a transform of tensors
     */
    public static UnaryOperator<Tensor> normalize(double[] mean, double[] deviation) {
        double[] means = mean.clone();
        double[] deviations = deviation.clone();
        return tensor -> tensor.sub(perChannel(means, tensor.dtype())).div(perChannel(deviations, tensor.dtype()));
    }

    private static Tensor perChannel(double[] numbers, DType dtype) {
        return Tensor.of(numbers, numbers.length, 1, 1).to(dtype);
    }
}
