package org.rushlight.nn;

import org.rushlight.Tensor;

/** Base class of the max unpooling layers. */
public abstract class MaxUnpoolNd extends Module {
    final int dims;
    final MaxUnpoolOptions<?> options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;

    MaxUnpoolNd(int dims, MaxUnpoolOptions<?> options) {
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
