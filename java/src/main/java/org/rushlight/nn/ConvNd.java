package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Base class of the convolution layers: weight and bias, initialized as in PyTorch. */
public abstract class ConvNd extends Module {
    final int dims;
    final ConvOptions<?> options;
    final long[] kernelSize;
    final long[] stride;
    final long[] padding;
    final long[] dilation;
    final long[] outputPadding;
    private final boolean transposed;
    private final Tensor weight;
    private final @Nullable Tensor bias;

    ConvNd(int dims, boolean transposed, ConvOptions<?> options) {
        this.dims = dims;
        this.transposed = transposed;
        this.options = options;
        long in = options.inChannels;
        long out = options.outChannels;
        long groups = options.groups;
        check(in > 0 && out > 0 && groups > 0, "in_channels, groups and out_channels must be a positive integer.");
        check(in % groups == 0, "in_channels must be divisible by groups");
        check(out % groups == 0, "out_channels must be divisible by groups");
        kernelSize = Sizes.expand("kernel_size", options.kernelSize, dims);
        check(Arrays.stream(kernelSize).allMatch(size -> size > 0), "kernel_size must be positive, but got " + Arrays.toString(kernelSize));
        stride = Sizes.expand("stride", options.stride, dims);
        padding = Sizes.expand("padding", options.padding, dims);
        dilation = Sizes.expand("dilation", options.dilation, dims);
        outputPadding = Sizes.expand("output_padding", options.outputPadding, dims);
        check(options.paddingWord != Padding.SAME || Sizes.all(stride, 1), "padding='same' is not supported for strided convolutions");
        long[] shape = new long[dims + 2];
        shape[0] = transposed ? in : out;
        shape[1] = (transposed ? out : in) / groups;
        System.arraycopy(kernelSize, 0, shape, 2, dims);
        weight = registerParameter("weight", Torch.empty(shape));
        bias = options.bias ? registerParameter("bias", Torch.empty(out)) : null;
        resetParameters();
    }

    private static void check(boolean fine, String message) {
        if (!fine) {
            throw new TensorValueException(message);
        }
    }

    /** Resets weight and bias to newly sampled values. */
    public final void resetParameters() {
        Init.kaimingUniform(weight, Math.sqrt(5));
        if (bias != null) {
            double bound = 1 / Math.sqrt(Init.fanIn(weight));
            Init.uniform(bias, -bound, bound);
        }
    }

    /**
     * Returns the weight: {@code (C_out, C_in / groups, *kernel_size)}, for transposed convolutions {@code (C_in, C_out
     * / groups, *kernel_size)}.
     *
     * @return the parameter
     */
    public final Tensor weight() {
        return weight;
    }

    /**
     * Returns the bias, of shape {@code (C_out)}.
     *
     * @return the parameter, or null
     */
    public final @Nullable Tensor bias() {
        return bias;
    }

    @Override
    protected final String extraRepr() {
        Repr repr = new Repr().add(options.inChannels).add(options.outChannels).named("kernel_size", kernelSize).named("stride", stride);
        if (options.paddingWord != null) {
            repr.named("padding", options.paddingWord.word);
        } else {
            repr.namedIf(!Sizes.all(padding, 0), "padding", padding);
        }
        return repr.namedIf(!Sizes.all(dilation, 1), "dilation", dilation)
            .namedIf(transposed && !Sizes.all(outputPadding, 0), "output_padding", outputPadding)
            .namedIf(options.groups != 1, "groups", options.groups)
            .namedIf(!options.bias, "bias", false)
            .namedIf(options.paddingMode != PaddingMode.ZEROS, "padding_mode", options.paddingMode.word)
            .toString();
    }

    /** Convolves with the padding mode of the options. */
    final Tensor convolve(Tensor input) {
        if (options.paddingMode != PaddingMode.ZEROS) {
            return convolve(Torch.pad(input, bothSides(), options.paddingMode.word), new long[dims]);
        }
        if (options.paddingWord == null) {
            return convolve(input, padding);
        }
        String word = options.paddingWord.word;
        return switch (dims) {
            case 1 -> Torch.conv1d(input, weight, bias, stride, word, dilation, options.groups);
            case 2 -> Torch.conv2d(input, weight, bias, stride, word, dilation, options.groups);
            default -> Torch.conv3d(input, weight, bias, stride, word, dilation, options.groups);
        };
    }

    private Tensor convolve(Tensor input, long[] zeros) {
        return switch (dims) {
            case 1 -> Functional.conv1d(input, weight, bias, stride, zeros, dilation, options.groups);
            case 2 -> Functional.conv2d(input, weight, bias, stride, zeros, dilation, options.groups);
            default -> Functional.conv3d(input, weight, bias, stride, zeros, dilation, options.groups);
        };
    }

    /** The padding before and after each spatial dimension, starting with the last. */
    private long[] bothSides() {
        long[] both = new long[2 * dims];
        for (int i = 0; i < dims; i++) {
            int dim = dims - 1 - i;
            long total = options.paddingWord == Padding.SAME ? dilation[dim] * (kernelSize[dim] - 1) : 2 * padding[dim];
            boolean none = options.paddingWord == Padding.VALID;
            both[2 * i] = none ? 0 : total / 2;
            both[2 * i + 1] = none ? 0 : total - total / 2;
        }
        return both;
    }

    /** The transposed convolution. */
    final Tensor transpose(Tensor input, long @Nullable [] outputSize) {
        if (options.paddingMode != PaddingMode.ZEROS) {
            throw new TensorValueException("Only `zeros` padding mode is supported for ConvTranspose" + dims + "d");
        }
        long[] more = outputSize == null ? outputPadding : missing(input, outputSize);
        return switch (dims) {
            case 1 -> Functional.convTranspose1d(input, weight, bias, stride, padding, more, options.groups, dilation);
            case 2 -> Functional.convTranspose2d(input, weight, bias, stride, padding, more, options.groups, dilation);
            default -> Functional.convTranspose3d(input, weight, bias, stride, padding, more, options.groups, dilation);
        };
    }

    /** The output padding that gives the requested size. */
    private long[] missing(Tensor input, long[] outputSize) {
        long[] shape = input.shape();
        int first = shape.length - dims;
        long[] wanted = outputSize.length == shape.length ? Arrays.copyOfRange(outputSize, first, outputSize.length) : outputSize;
        if (wanted.length != dims) {
            throw new TensorValueException("ConvTranspose" + dims + "D: for " + shape.length + "D input, output_size must have " + dims + " or "
                + shape.length + " elements (got " + outputSize.length + ")");
        }
        long[] least = new long[dims];
        long[] most = new long[dims];
        long[] missing = new long[dims];
        boolean fits = true;
        for (int i = 0; i < dims; i++) {
            least[i] = (shape[first + i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernelSize[i] - 1) + 1;
            most[i] = least[i] + stride[i] - 1;
            missing[i] = wanted[i] - least[i];
            fits &= wanted[i] >= least[i] && wanted[i] <= most[i];
        }
        if (!fits) {
            throw new TensorValueException("requested an output size of " + Arrays.toString(wanted) + ", but valid sizes range from "
                + Arrays.toString(least) + " to " + Arrays.toString(most) + " (for an input of "
                + Arrays.toString(Arrays.copyOfRange(shape, first, shape.length)) + ")");
        }
        return missing;
    }
}
