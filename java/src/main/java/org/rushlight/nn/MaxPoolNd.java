package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/** Base class of the max pooling layers. */
public abstract class MaxPoolNd extends Module {
    final int dims;
    final Options options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;
    final long[] dilation;

    /** Options of the pooling layers. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long @Nullable [] stride;
        long[] padding = {0};
        long[] dilation = {1};
        boolean ceilMode = false;

        /**
         * Creates PyTorch's default options.
         *
         * @param kernelSize size of the window
         */
        public Options(long... kernelSize) {
            this.kernelSize = kernelSize.clone();
        }

        /**
         * Sets stride: stride of the window (default: the window size).
         *
         * @param value stride of the window (default: the window size)
         * @return the changed options
         */
        public Options withStride(long... value) {
            return with(options -> options.stride = value.clone());
        }

        /**
         * Sets padding: implicit padding on both sides (default 0).
         *
         * @param value implicit padding on both sides (default 0)
         * @return the changed options
         */
        public Options withPadding(long... value) {
            return with(options -> options.padding = value.clone());
        }

        /**
         * Sets dilation: spacing between kernel elements (default 1).
         *
         * @param value spacing between kernel elements (default 1)
         * @return the changed options
         */
        public Options withDilation(long... value) {
            return with(options -> options.dilation = value.clone());
        }

        /**
         * Sets ceilMode: whether to round the output size up instead of down (default false).
         *
         * @param value whether to round the output size up instead of down (default false)
         * @return the changed options
         */
        public Options withCeilMode(boolean value) {
            return with(options -> options.ceilMode = value);
        }
    }

    MaxPoolNd(int dims, Options options) {
        this.dims = dims;
        this.options = options;
        kernelSize = Sizes.expand("kernel_size", options.kernelSize, dims);
        stride = options.stride == null ? kernelSize : Sizes.expand("stride", options.stride, dims);
        padding = Sizes.expand("padding", options.padding, dims);
        dilation = Sizes.expand("dilation", options.dilation, dims);
    }

    @Override
    protected final String extraRepr() {
        return new Repr().sizes("kernel_size", options.kernelSize).sizes("stride", options.stride == null ? options.kernelSize : options.stride)
            .sizes("padding", options.padding).sizes("dilation", options.dilation).named("ceil_mode", options.ceilMode).toString();
    }
}
