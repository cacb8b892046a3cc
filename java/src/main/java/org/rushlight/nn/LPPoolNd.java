package org.rushlight.nn;

import org.jspecify.annotations.Nullable;

/** What the layers that pool by norms have in common. */
public abstract class LPPoolNd extends Module {
    final int dims;
    final Options options;
    final long[] kernelSize;
    final long[] stride;

    /** What a pooling layer does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final double normType;
        final long[] kernelSize;
        long @Nullable [] stride;
        boolean ceilMode = false;

        /**
         * The defaults of PyTorch.
         *
         * @param normType degree of the norm
         * @param kernelSize size of a window
         */
        public Options(double normType, long... kernelSize) {
            this.normType = normType;
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
         * Sets ceilMode: round the size of the output up.
         *
         * @param value round the size of the output up
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
