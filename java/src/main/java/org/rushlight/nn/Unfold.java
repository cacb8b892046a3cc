package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * The windows of images as columns.
 *
 * <pre>{@code
 * Tensor y = new Unfold(3).forward(Torch.ones(1, 2, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [1, 18, 36]
 * }</pre>
 */
public final class Unfold extends Module {
    private final Options options;

    /** What a Unfold does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] kernelSize;
        long[] dilation = {1};
        long[] padding = {0};
        long[] stride = {1};

        /**
         * The defaults of PyTorch.
         *
         * @param kernelSize height and width of a window
         */
        public Options(long... kernelSize) {
            this.kernelSize = kernelSize.clone();
        }

        /**
         * Sets dilation: distance of the elements of a window.
         *
         * @param value distance of the elements of a window
         * @return the changed options
         */
        public Options withDilation(long... value) {
            return with(options -> options.dilation = value.clone());
        }

        /**
         * Sets padding: zeros on both sides.
         *
         * @param value zeros on both sides
         * @return the changed options
         */
        public Options withPadding(long... value) {
            return with(options -> options.padding = value.clone());
        }

        /**
         * Sets stride: distance of windows.
         *
         * @param value distance of windows
         * @return the changed options
         */
        public Options withStride(long... value) {
            return with(options -> options.stride = value.clone());
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param kernelSize height and width of a window
     */
    public Unfold(long... kernelSize) {
        this(new Options(kernelSize));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
