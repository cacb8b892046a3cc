package org.rushlight.nn;

/** Base class of the max pooling layers. */
public abstract class MaxPoolNd extends Module {
    final int dims;
    final MaxPoolOptions<?> options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;
    final long[] dilation;

    MaxPoolNd(int dims, MaxPoolOptions<?> options) {
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
