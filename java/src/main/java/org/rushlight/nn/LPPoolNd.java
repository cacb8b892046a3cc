package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/** Base class of the power-average pooling layers. */
public abstract class LPPoolNd extends Module {
    final int dims;
    final Options options;
    final long[] kernelSize;
    final long[] stride;

    /** Options of the pooling layers. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final double normType;
        final long[] kernelSize;
        long @Nullable [] stride;
        boolean ceilMode = false;

        /**
         * Creates PyTorch's default options.
         *
         * @param normType degree of the norm
         * @param kernelSize size of the window
         */
        public Options(double normType, long... kernelSize) {
            this.normType = normType;
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
         * Sets ceilMode: whether to round the output size up instead of down (default false).
         *
         * @param value whether to round the output size up instead of down (default false)
         * @return the changed options
         */
        public Options withCeilMode(boolean value) {
            return with(options -> options.ceilMode = value);
        }
    }

    LPPoolNd(int dims, Options options) {
        this.dims = dims;
        this.options = options;
        kernelSize = Sizes.expand("kernel_size", options.kernelSize, dims);
        stride = options.stride == null ? kernelSize : Sizes.expand("stride", options.stride, dims);
    }

    @Override
    protected final String extraRepr() {
        return new Repr().named("norm_type", options.normType).sizes("kernel_size", options.kernelSize)
            .named("stride", options.stride == null ? null : options.stride.length == 1 ? (Object) options.stride[0] : options.stride)
            .named("ceil_mode", options.ceilMode).toString();
    }
}
