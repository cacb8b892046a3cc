package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.TensorValueException;

/** What the average pooling layers have in common. */
public abstract class AvgPoolNd extends Module {
    final int dims;
    final Options options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;

    /** What a pooling layer does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long @Nullable [] stride;
        long[] padding = {0};
        boolean ceilMode = false;
        boolean countIncludePad = true;
        @Nullable Long divisorOverride;

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
         * Sets ceilMode: round the size of the output up.
         *
         * @param value round the size of the output up
         * @return the changed options
         */
        public Options withCeilMode(boolean value) {
            return with(options -> options.ceilMode = value);
        }

        /**
         * Sets countIncludePad: count the zeros of the padding.
         *
         * @param value count the zeros of the padding
         * @return the changed options
         */
        public Options withCountIncludePad(boolean value) {
            return with(options -> options.countIncludePad = value);
        }

        /**
         * Sets divisorOverride: divisor instead of the size of a window (not in one dimension).
         *
         * @param value divisor instead of the size of a window (not in one dimension)
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
