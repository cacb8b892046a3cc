package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/** Base class of the fractional max pooling layers. */
public abstract class FractionalMaxPoolNd extends Module {
    final int dims;
    final Options options;
    private final long[] kernelSize;
    private final long @Nullable [] outputSize;
    private final double @Nullable [] outputRatio;
    private final @Nullable Tensor samples;

    /** Options of the pooling layers. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long @Nullable [] outputSize;
        double @Nullable [] outputRatio;
        @Nullable Tensor randomSamples;

        /**
         * Creates PyTorch's default options.
         *
         * @param kernelSize size of the window
         */
        public Options(long... kernelSize) {
            this.kernelSize = kernelSize.clone();
        }

        /**
         * Sets outputSize: spatial size of the output.
         *
         * @param value spatial size of the output
         * @return the changed options
         */
        public Options withOutputSize(long... value) {
            return with(options -> options.outputSize = value.clone());
        }

        /**
         * Sets outputRatio: ratio of output size to input size, between 0 and 1.
         *
         * @param value ratio of output size to input size, between 0 and 1
         * @return the changed options
         */
        public Options withOutputRatio(double... value) {
            return with(options -> options.outputRatio = value.clone());
        }

        /**
         * Sets randomSamples: numbers from [0, 1) that determine the window positions, instead of random ones.
         *
         * @param value numbers from [0, 1) that determine the window positions, instead of random ones
         * @return the changed options
         */
        public Options withRandomSamples(Tensor value) {
            return with(options -> options.randomSamples = value);
        }
    }

    FractionalMaxPoolNd(int dims, Options options) {
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
