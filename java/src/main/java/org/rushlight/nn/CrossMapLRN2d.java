package org.rushlight.nn;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rushlight.AutogradFunction;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * {@link LocalResponseNorm} of images with a window centred on each channel.
 *
 * <pre>{@code
 * Tensor y = new CrossMapLRN2d(2).forward(Torch.ones(1, 4, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 4, 8, 8]
 * }</pre>
 */
public final class CrossMapLRN2d extends Module {
    private final Options options;

    /** Options of {@link CrossMapLRN2d}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long size;
        double alpha = 1e-4;
        double beta = 0.75;
        double k = 1;

        /**
         * Creates PyTorch's default options.
         *
         * @param size number of channels of the window
         */
        public Options(long size) {
            this.size = size;
        }

        /**
         * Sets alpha: factor of the mean of squares (default 1e-4).
         *
         * @param value factor of the mean of squares (default 1e-4)
         * @return the changed options
         */
        public Options withAlpha(double value) {
            return with(options -> options.alpha = value);
        }

        /**
         * Sets beta: exponent (default 0.75).
         *
         * @param value exponent (default 0.75)
         * @return the changed options
         */
        public Options withBeta(double value) {
            return with(options -> options.beta = value);
        }

        /**
         * Sets k: additive constant (default 1).
         *
         * @param value additive constant (default 1)
         * @return the changed options
         */
        public Options withK(double value) {
            return with(options -> options.k = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param size number of channels of the window
     */
    public CrossMapLRN2d(long size) {
        this(new Options(size));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public CrossMapLRN2d(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return new Normalise(options).apply(input)[0];
    }

    /**
     * Computes {@code x scale^-beta} with {@code scale = k + alpha / size * sum}, where the sum is over the squares of
     * neighbouring channels.
     */
    private static final class Normalise extends AutogradFunction {
        private final Options options;

        Normalise(Options options) {
            this.options = options;
        }

        @Override
        protected Tensor[] forward(Context context, @Nullable Tensor... inputs) {
            Tensor input = Objects.requireNonNull(inputs[0]);
            Sizes.checkDim(input, 4, 4);
            long channels = input.size(1);
            long ahead = (options.size - 1) / 2 + 1;
            Tensor squares = input.mul(input);
            Tensor sum = squares.narrow(1, 0, Math.min(ahead, channels)).sum(1, true);
            Tensor[] sums = new Tensor[Math.toIntExact(channels)];
            sums[0] = sum;
            for (int c = 1; c < sums.length; c++) {
                if (c + ahead - 1 < channels) {
                    sum = sum.add(squares.narrow(1, c + ahead - 1, 1));
                }
                // Like PyTorch, this keeps the first channel in every sum.
                if (c > ahead) {
                    sum = sum.sub(squares.narrow(1, c - ahead, 1));
                }
                sums[c] = sum;
            }
            Tensor scale = Torch.cat(sums, 1).mul(options.alpha / options.size).add(options.k);
            Tensor output = input.mul(scale.pow(-options.beta));
            context.saveForBackward(input, output, scale);
            return new Tensor[] {output};
        }

        @Override
        protected @Nullable Tensor[] backward(Context context, @Nullable Tensor... gradOutputs) {
            Tensor[] saved = context.savedTensors();
            Tensor grad = Objects.requireNonNull(gradOutputs[0]);
            long before = options.size - (options.size - 1) / 2;
            Tensor ratio = grad.mul(saved[1]).div(saved[2]);
            Tensor padded = Torch.constantPadNd(ratio, 0, 0, 0, 0, before, options.size - 1 - before);
            Tensor sum = padded.unfold(1, options.size, 1).sum(-1);
            Tensor direct = saved[2].pow(-options.beta).mul(grad);
            return new Tensor[] {direct.sub(saved[0].mul(sum).mul(2 * options.alpha * options.beta / options.size))};
        }
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.size).named("alpha", options.alpha).named("beta", options.beta).named("k", options.k).toString();
    }
}
