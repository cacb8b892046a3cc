package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Options of the pooling layers. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class FractionalMaxPoolOptions<O extends FractionalMaxPoolOptions<O>> extends ModuleOptions<O> {
    final long[] kernelSize;
    long @Nullable [] outputSize;
    double @Nullable [] outputRatio;
    @Nullable Tensor randomSamples;

    FractionalMaxPoolOptions(long... kernelSize) {
        this.kernelSize = kernelSize.clone();
    }

    /**
     * Sets outputSize: spatial size of the output.
     *
     * @param value spatial size of the output
     * @return the changed options
     */
    public O withOutputSize(long... value) {
        return with(options -> options.outputSize = value.clone());
    }

    /**
     * Sets outputRatio: ratio of output size to input size, between 0 and 1.
     *
     * @param value ratio of output size to input size, between 0 and 1
     * @return the changed options
     */
    public O withOutputRatio(double... value) {
        return with(options -> options.outputRatio = value.clone());
    }

    /**
     * Sets randomSamples: numbers from [0, 1) that determine the window positions, instead of random ones.
     *
     * @param value numbers from [0, 1) that determine the window positions, instead of random ones
     * @return the changed options
     */
    public O withRandomSamples(Tensor value) {
        return with(options -> options.randomSamples = value);
    }
}
