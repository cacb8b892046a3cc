package org.rushlight.nn;

import org.rushlight.TensorValueException;

/** Base class of the average pooling layers. */
public abstract class AvgPoolNd extends Module {
    final int dims;
    final AvgPoolOptions<?> options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;

    AvgPoolNd(int dims, AvgPoolOptions<?> options) {
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
