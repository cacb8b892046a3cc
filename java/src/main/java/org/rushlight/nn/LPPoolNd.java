package org.rushlight.nn;

/** Base class of the power-average pooling layers. */
public abstract class LPPoolNd extends Module {
    final int dims;
    final LPPoolOptions<?> options;
    final long[] kernelSize;
    final long[] stride;

    LPPoolNd(int dims, LPPoolOptions<?> options) {
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
