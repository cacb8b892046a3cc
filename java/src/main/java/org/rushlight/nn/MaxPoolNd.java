package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/** What the max pooling layers have in common. */
public abstract class MaxPoolNd extends Module {
    final int dims;
    final Options options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;
    final long[] dilation;

    /** What a pooling layer does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long @Nullable [] stride;
        long[] padding = {0};
        long[] dilation = {1};
        boolean ceilMode = false;

        /**
         * The defaults of PyTorch.
         *
         * @param kernelSize size of a window
         */
        public Options(long... kernelSize) {
            this.kernelSize = kernelSize.clone();
        }

        /**
         * Sets stride: distance of windows; a window, if it is not set.
         *
         * @param value distance of windows; a window, if it is not set
         * @return the changed options
         */
        public Options withStride(long... value) {
            return with(options -> options.stride = value.clone());
        }

        /**
         * Sets padding: zeros on both sides.
         *
         * @param value zeros on both sides
         * @return the changed options
         */
        public Options withPadding(long... value) {
            return with(options -> options.padding = value.clone());
        }

        /**
         * Sets dilation: distance of the elements of a window.
         *
         * @param value distance of the elements of a window
         * @return the changed options
         */
        public Options withDilation(long... value) {
            return with(options -> options.dilation = value.clone());
        }

        /**
         * Sets ceilMode: round the size of the output up.
         *
         * @param value round the size of the output up
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
