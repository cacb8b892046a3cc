package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/** Base class of the max unpooling layers. */
public abstract class MaxUnpoolNd extends Module {
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
    }

    MaxUnpoolNd(int dims, Options options) {
        this.dims = dims;
        this.options = options;
        kernelSize = Sizes.expand("kernel_size", options.kernelSize, dims);
        stride = options.stride == null ? kernelSize : Sizes.expand("stride", options.stride, dims);
        padding = Sizes.expand("padding", options.padding, dims);
    }

    /**
     * Puts each value at the index of its maximum, and zeros elsewhere.
     *
     * @param input the maxima
     * @param indices their indices
     * @param outputSize spatial size of the output, for cases where several sizes are possible; or none
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
