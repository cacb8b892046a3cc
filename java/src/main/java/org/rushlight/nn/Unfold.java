package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Extracts sliding blocks of images as columns (im2col).
 *
 * <pre>{@code
 * Tensor y = new Unfold(3).forward(Torch.ones(1, 2, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 18, 36]
 * }</pre>
 */
public final class Unfold extends Module {
    private final Options options;

    /** Options of {@link Unfold}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long[] dilation = {1};
        long[] padding = {0};
        long[] stride = {1};

        /**
         * Creates PyTorch's default options.
         *
         * @param kernelSize height and width of the sliding blocks, or one number for both
         */
        public Options(long... kernelSize) {
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
     * @param kernelSize height and width of the sliding blocks, or one number for both
     */
    public Unfold(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Unfold(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        if (input.dim() != 4 && input.dim() != 3) {
            throw new TensorValueException("Input Error: Only 4D input Tensors are supported (got " + input.dim() + "D)");
        }
        return Functional.unfold(input, Sizes.expand("kernel_size", options.kernelSize, 2), Sizes.expand("dilation", options.dilation, 2),
            Sizes.expand("padding", options.padding, 2), Sizes.expand("stride", options.stride, 2));
    }

    @Override
    protected String extraRepr() {
        return new Repr().sizes("kernel_size", options.kernelSize).sizes("dilation", options.dilation).sizes("padding", options.padding)
            .sizes("stride", options.stride).toString();
    }
}
