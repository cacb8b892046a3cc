package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/** What the inverses of max pooling have in common. */
public abstract class MaxUnpoolNd extends Module {
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
    }

    MaxUnpoolNd(int dims, Options options) {
        this.dims = dims;
        this.options = options;
        kernelSize = Sizes.expand("kernel_size", options.kernelSize, dims);
        stride = options.stride == null ? kernelSize : Sizes.expand("stride", options.stride, dims);
        padding = Sizes.expand("padding", options.padding, dims);
    }

    /**
     * Puts numbers at their places.
     *
     * @param input the pooled numbers
     * @param indices their places
     * @param outputSize size of the output, or nothing: several sizes pool to that of the input
     * @return the output
     */
    public final Tensor forward(Tensor input, Tensor indices, long... outputSize) {
        checkOpen();
        long[] size = outputSize.length == 0 ? null : outputSize;
        return switch (dims) {
            case 1 -> Functional.maxUnpool1d(input, indices, kernelSize, stride, padding, size);
            case 2 -> Functional.maxUnpool2d(input, indices, kernelSize, stride, padding, size);
            default -> Functional.maxUnpool3d(input, indices, kernelSize, stride, padding, size);
        };
    }

    @Override
    protected final String extraRepr() {
        return new Repr().named("kernel_size", kernelSize).named("stride", stride).named("padding", padding).toString();
    }
}
