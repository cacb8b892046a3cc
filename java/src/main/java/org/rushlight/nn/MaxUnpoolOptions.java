package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/**
 * Options of the pooling layers. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class MaxUnpoolOptions<O extends MaxUnpoolOptions<O>> extends ModuleOptions<O> {
    final long[] kernelSize;
    long @Nullable [] stride;
    long[] padding = {0};

    MaxUnpoolOptions(long... kernelSize) {
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
}
