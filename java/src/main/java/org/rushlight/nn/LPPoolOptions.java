package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/**
 * Options of the pooling layers. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class LPPoolOptions<O extends LPPoolOptions<O>> extends ModuleOptions<O> {
    final double normType;
    final long[] kernelSize;
    long @Nullable [] stride;
    boolean ceilMode = false;

    LPPoolOptions(double normType, long... kernelSize) {
        this.normType = normType;
        this.kernelSize = kernelSize.clone();
    }

    /**
     * Sets stride: stride of the window (default: the window size).
     *
     * @param value stride of the window (default: the window size)
     * @return the changed options
     */
    public O withStride(long... value) {
        return with(options -> options.stride = value.clone());
    }

    /**
     * Sets ceilMode: whether to round the output size up instead of down (default false).
     *
     * @param value whether to round the output size up instead of down (default false)
     * @return the changed options
     */
    public O withCeilMode(boolean value) {
        return with(options -> options.ceilMode = value);
    }
}
