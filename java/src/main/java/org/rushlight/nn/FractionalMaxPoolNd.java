package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/** What the layers that pool windows at random places have in common. */
public abstract class FractionalMaxPoolNd extends Module {
    final int dims;
    final Options options;
    private final long[] kernelSize;
    private final long @Nullable [] outputSize;
    private final double @Nullable [] outputRatio;
    private final @Nullable Tensor samples;

    /** What a pooling layer does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long @Nullable [] outputSize;
        double @Nullable [] outputRatio;
        @Nullable Tensor randomSamples;

        /**
         * The defaults of PyTorch.
         *
         * @param kernelSize size of a window
         */
        public Options(long... kernelSize) {
            this.kernelSize = kernelSize.clone();
        }

        /**
         * Sets outputSize: size of the output.
         *
         * @param value size of the output
         * @return the changed options
         */
        public Options withOutputSize(long... value) {
            return with(options -> options.outputSize = value.clone());
        }

        /**
         * Sets outputRatio: ratio of the sizes of output and input.
         *
         * @param value ratio of the sizes of output and input
         * @return the changed options
         */
        public Options withOutputRatio(double... value) {
            return with(options -> options.outputRatio = value.clone());
        }

        /**
         * Sets randomSamples: what places the windows, instead of random numbers.
         *
         * @param value what places the windows, instead of random numbers
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
     * The pooled numbers and their places.
     *
     * @param input the input
     * @return both
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
