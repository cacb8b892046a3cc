package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/** Base class of the fractional max pooling layers. */
public abstract class FractionalMaxPoolNd extends Module {
    final int dims;
    final FractionalMaxPoolOptions<?> options;
    private final long[] kernelSize;
    private final long @Nullable [] outputSize;
    private final double @Nullable [] outputRatio;
    private final @Nullable Tensor samples;

    FractionalMaxPoolNd(int dims, FractionalMaxPoolOptions<?> options) {
        this.dims = dims;
        this.options = options;
        kernelSize = Sizes.expand("kernel_size", options.kernelSize, dims);
        outputSize = options.outputSize == null ? null : Sizes.expand("output_size", options.outputSize, dims);
        double[] ratio = options.outputRatio;
        if (ratio != null && ratio.length == 1) {
            double all = ratio[0];
            ratio = new double[dims];
            Arrays.fill(ratio, all);
        }
        outputRatio = ratio;
        if (outputSize == null && ratio == null) {
            throw new TensorValueException("FractionalMaxPool" + dims + "d requires specifying either an output size, or a pooling ratio");
        }
        if (outputSize != null && ratio != null) {
            throw new TensorValueException("only one of output_size and output_ratio may be specified");
        }
        if (ratio != null && !Arrays.stream(ratio).allMatch(each -> each > 0 && each < 1)) {
            throw new TensorValueException("output_ratio must be between 0 and 1 (got " + Repr.text(ratio) + ")");
        }
        samples = options.randomSamples == null ? null : registerBuffer("_random_samples", options.randomSamples.share());
    }

    /**
     * Returns the maxima and their indices.
     *
     * @param input the input
     * @return both results
     */
    public final Pooled forwardWithIndices(Tensor input) {
        checkOpen();
        return dims == 2
            ? Functional.fractionalMaxPool2d(input, kernelSize, outputSize, outputRatio, samples)
            : Functional.fractionalMaxPool3d(input, kernelSize, outputSize, outputRatio, samples);
    }

    @Override
    protected final String extraRepr() {
        return new Repr().toString();
    }
}
