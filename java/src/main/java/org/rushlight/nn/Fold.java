package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Combines columns into images by summing overlapping blocks (col2im).
 *
 * <pre>{@code
 * Tensor y = new Fold(new long[] {4, 4}, 2).forward(Torch.ones(1, 4, 9));
 * System.out.println(Arrays.toString(y.shape())); // [1, 1, 4, 4]
 * }</pre>
 */
public final class Fold extends Module {
    private final Options options;

    /** Options of {@link Fold}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] outputSize;
        final long[] kernelSize;
        long[] dilation = {1};
        long[] padding = {0};
        long[] stride = {1};

        /**
         * Creates PyTorch's default options.
         *
         * @param outputSize height and width of the output, or one number for both
         * @param kernelSize height and width of the sliding blocks, or one number for both
         */
        public Options(long[] outputSize, long... kernelSize) {
            this.outputSize = outputSize.clone();
            this.kernelSize = kernelSize.clone();
        }

        /**
         * Sets dilation: spacing between kernel elements (default 1).
         *
         * @param value spacing between kernel elements (default 1)
         * @return the changed options
         */
        public Options withDilation(long... value) {
            return with(options -> options.dilation = value.clone());
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

        /**
         * Sets stride: stride (default 1).
         *
         * @param value stride (default 1)
         * @return the changed options
         */
        public Options withStride(long... value) {
            return with(options -> options.stride = value.clone());
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param outputSize height and width of the output, or one number for both
     * @param kernelSize height and width of the sliding blocks, or one number for both
     */
    public Fold(long[] outputSize, long... kernelSize) {
        this(new Options(outputSize, kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Fold(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        if (input.dim() != 2 && input.dim() != 3) {
            throw new TensorValueException("Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got " + input.dim() + "D)");
        }
        return Functional.fold(input, Sizes.expand("output_size", options.outputSize, 2), Sizes.expand("kernel_size", options.kernelSize, 2),
            Sizes.expand("dilation", options.dilation, 2), Sizes.expand("padding", options.padding, 2), Sizes.expand("stride", options.stride, 2));
    }

    @Override
    protected String extraRepr() {
        return new Repr().sizes("output_size", options.outputSize).sizes("kernel_size", options.kernelSize).sizes("dilation", options.dilation)
            .sizes("padding", options.padding).sizes("stride", options.stride).toString();
    }
}
