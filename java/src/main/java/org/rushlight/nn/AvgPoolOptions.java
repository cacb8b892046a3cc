package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/**
 * Options of the pooling layers. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class AvgPoolOptions<O extends AvgPoolOptions<O>> extends ModuleOptions<O> {
    final long[] kernelSize;
    long @Nullable [] stride;
    long[] padding = {0};
    boolean ceilMode = false;
    boolean countIncludePad = true;
    @Nullable Long divisorOverride;

    AvgPoolOptions(long... kernelSize) {
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
     * Sets padding: implicit padding on both sides (default 0).
     *
     * @param value implicit padding on both sides (default 0)
     * @return the changed options
     */
    public O withPadding(long... value) {
        return with(options -> options.padding = value.clone());
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

    /**
     * Sets countIncludePad: whether the mean includes the zeros of the padding (default true).
     *
     * @param value whether the mean includes the zeros of the padding (default true)
     * @return the changed options
     */
    public O withCountIncludePad(boolean value) {
        return with(options -> options.countIncludePad = value);
    }

    /**
     * Sets divisorOverride: divisor to use instead of the number of elements of the window (not in one dimension).
     *
     * @param value divisor to use instead of the number of elements of the window (not in one dimension)
     * @return the changed options
     */
    public O withDivisorOverride(long value) {
        return with(options -> options.divisorOverride = value);
    }
}
