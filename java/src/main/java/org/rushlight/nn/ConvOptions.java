package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/**
 * Options of a convolution layer. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the class of the options
 */
public abstract class ConvOptions<O extends ConvOptions<O>> extends ModuleOptions<O> {
    final long inChannels;
    final long outChannels;
    final long[] kernelSize;
    long[] stride = {1};
    long[] padding = {0};
    @Nullable Padding paddingWord;
    long[] dilation = {1};
    long[] outputPadding = {0};
    long groups = 1;
    boolean bias = true;
    PaddingMode paddingMode = PaddingMode.ZEROS;

    ConvOptions(long inChannels, long outChannels, long... kernelSize) {
        this.inChannels = inChannels;
        this.outChannels = outChannels;
        this.kernelSize = kernelSize.clone();
    }

    /**
     * Sets stride: stride (default 1).
     *
     * @param value stride (default 1)
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
        return with(options -> {
            options.padding = value.clone();
            options.paddingWord = null;
        });
    }

    /**
     * Sets padding that follows from the other sizes.
     *
     * @param value the padding
     * @return the changed options
     */
    public O withPadding(Padding value) {
        return with(options -> options.paddingWord = value);
    }

    /**
     * Sets dilation: spacing between kernel elements (default 1).
     *
     * @param value spacing between kernel elements (default 1)
     * @return the changed options
     */
    public O withDilation(long... value) {
        return with(options -> options.dilation = value.clone());
    }

    /**
     * Sets outputPadding: size that a transposed convolution adds to one side of its output (default 0).
     *
     * @param value size that a transposed convolution adds to one side of its output (default 0)
     * @return the changed options
     */
    public O withOutputPadding(long... value) {
        return with(options -> options.outputPadding = value.clone());
    }

    /**
     * Sets groups: number of groups into which the channels are split (default 1).
     *
     * @param value number of groups into which the channels are split (default 1)
     * @return the changed options
     */
    public O withGroups(long value) {
        return with(options -> options.groups = value);
    }

    /**
     * Sets bias: whether to add a bias (default true).
     *
     * @param value whether to add a bias (default true)
     * @return the changed options
     */
    public O withBias(boolean value) {
        return with(options -> options.bias = value);
    }

    /**
     * Sets paddingMode: values outside of the input (default {@code ZEROS}).
     *
     * @param value values outside of the input (default {@code ZEROS})
     * @return the changed options
     */
    public O withPaddingMode(PaddingMode value) {
        return with(options -> options.paddingMode = value);
    }
}
