package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.TensorValueException;

/** Base class of the average pooling layers. */
public abstract class AvgPoolNd extends Module {
    final int dims;
    final Options options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;

    /** Options of the pooling layers. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long @Nullable [] stride;
        long[] padding = {0};
        boolean ceilMode = false;
        boolean countIncludePad = true;
        @Nullable Long divisorOverride;

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
         * Sets ceilMode: whether to round the output size up instead of down (default false).
         *
         * @param value whether to round the output size up instead of down (default false)
         * @return the changed options
         */
        public Options withCeilMode(boolean value) {
            return with(options -> options.ceilMode = value);
        }

        /**
         * Sets countIncludePad: whether the mean includes the zeros of the padding (default true).
         *
         * @param value whether the mean includes the zeros of the padding (default true)
         * @return the changed options
         */
        public Options withCountIncludePad(boolean value) {
            return with(options -> options.countIncludePad = value);
        }

        /**
         * Sets divisorOverride: divisor to use instead of the number of elements of the window (not in one dimension).
         *
         * @param value divisor to use instead of the number of elements of the window (not in one dimension)
         * @return the changed options
         */
        public Options withDivisorOverride(long value) {
            return with(options -> options.divisorOverride = value);
        }
    }

    AvgPoolNd(int dims, Options options) {
        this.dims = dims;
        this.options = options;
        kernelSize = Sizes.expand("kernel_size", options.kernelSize, dims);
        stride = options.stride == null ? kernelSize : Sizes.expand("stride", options.stride, dims);
        padding = Sizes.expand("padding", options.padding, dims);
        if (dims == 1 && options.divisorOverride != null) {
            throw new TensorValueException("AvgPool1d has no divisor_override");
        }
    }

    @Override
    protected final String extraRepr() {
        return dims == 1
            ? new Repr().named("kernel_size", kernelSize).named("stride", stride).named("padding", padding).toString()
            : new Repr().sizes("kernel_size", options.kernelSize).sizes("stride", options.stride == null ? options.kernelSize : options.stride)
                .sizes("padding", options.padding).toString();
    }
}
