package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Linear layers, convolutions and pooling: part of {@link Functional}. */
public abstract class FunctionalConvolutions extends FunctionalActivations {
    FunctionalConvolutions() {}

    /**
     * {@code x W^T + b}: {@code (*, in) -> (*, out)}.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor linear(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.linear(input, weight, bias);
    }

    /**
     * {@code x1^T W[k] x2 + b[k]} for each k.
     *
     * @param input1 the first input
     * @param input2 the second input
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor bilinear(Tensor input1, Tensor input2, Tensor weight, @Nullable Tensor bias) {
        return Torch.bilinear(input1, input2, weight, bias);
    }

    /**
     * Convolution over 1 dimension.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor conv1d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv1d(input, weight, bias);
    }

    /**
     * Convolution over 1 dimension.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param groups groups of channels
     * @return the result
     */
    public static Tensor conv1d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] dilation, long groups) {
        return Torch.conv1d(input, weight, bias, stride, padding, dilation, groups);
    }

    /**
     * The gradient of a convolution over 1 dimension as a layer.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor convTranspose1d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv_transpose1d(input, weight, bias);
    }

    /**
     * The gradient of a convolution over 1 dimension as a layer.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param outputPadding what is added to one side of the output
     * @param groups groups of channels
     * @param dilation distance of the elements of a window
     * @return the result
     */
    public static Tensor convTranspose1d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] outputPadding, long groups, long[]
            dilation) {
        return Torch.conv_transpose1d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
    }

    /**
     * Convolution over 2 dimensions.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor conv2d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv2d(input, weight, bias);
    }

    /**
     * Convolution over 2 dimensions.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param groups groups of channels
     * @return the result
     */
    public static Tensor conv2d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] dilation, long groups) {
        return Torch.conv2d(input, weight, bias, stride, padding, dilation, groups);
    }

    /**
     * The gradient of a convolution over 2 dimensions as a layer.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor convTranspose2d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv_transpose2d(input, weight, bias);
    }

    /**
     * The gradient of a convolution over 2 dimensions as a layer.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param outputPadding what is added to one side of the output
     * @param groups groups of channels
     * @param dilation distance of the elements of a window
     * @return the result
     */
    public static Tensor convTranspose2d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] outputPadding, long groups, long[]
            dilation) {
        return Torch.conv_transpose2d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
    }

    /**
     * Convolution over 3 dimensions.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor conv3d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv3d(input, weight, bias);
    }

    /**
     * Convolution over 3 dimensions.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param groups groups of channels
     * @return the result
     */
    public static Tensor conv3d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] dilation, long groups) {
        return Torch.conv3d(input, weight, bias, stride, padding, dilation, groups);
    }

    /**
     * The gradient of a convolution over 3 dimensions as a layer.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @return the result
     */
    public static Tensor convTranspose3d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv_transpose3d(input, weight, bias);
    }

    /**
     * The gradient of a convolution over 3 dimensions as a layer.
     *
     * @param input any shape
     * @param weight the weight
     * @param bias the bias, or null
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param outputPadding what is added to one side of the output
     * @param groups groups of channels
     * @param dilation distance of the elements of a window
     * @return the result
     */
    public static Tensor convTranspose3d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] outputPadding, long groups, long[]
            dilation) {
        return Torch.conv_transpose3d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
    }

    /**
     * The largest number of each window; windows do not overlap.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @return the result
     */
    public static Tensor maxPool1d(Tensor input, long... kernelSize) {
        return Torch.max_pool1d(input, kernelSize);
    }

    /**
     * The largest number of each window.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param ceilMode round the size of the output up
     * @return the result
     */
    public static Tensor maxPool1d(Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Torch.max_pool1d(input, kernelSize, stride, padding, dilation, ceilMode);
    }

    /**
     * The largest number of each window, and where it is.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param ceilMode round the size of the output up
     * @return the results
     */
    public static Pooled maxPool1dWithIndices(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Pooled.of(Torch.max_pool1d_with_indices(input, kernelSize, stride, padding, dilation, ceilMode));
    }

    /**
     * The mean of each window; windows do not overlap.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @return the result
     */
    public static Tensor avgPool1d(Tensor input, long... kernelSize) {
        return Torch.avg_pool1d(input, kernelSize);
    }

    /**
     * The mean of each window.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param ceilMode round the size of the output up
     * @param countIncludePad count the zeros of the padding
     * @return the result
     */
    public static Tensor avgPool1d(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, boolean ceilMode, boolean countIncludePad) {
        return Torch.avg_pool1d(input, kernelSize, stride, padding, ceilMode, countIncludePad);
    }

    /**
     * The mean of each of as many windows as the output has elements. A size of -1 is that of the input.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor adaptiveAvgPool1d(Tensor input, long... outputSize) {
        return Torch.adaptive_avg_pool1d(input, sizesOrOwn(1, outputSize, input));
    }

    /**
     * The largest number of each of as many windows as the output has elements. A size of -1 is that of the input.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor adaptiveMaxPool1d(Tensor input, long... outputSize) {
        return Torch.adaptive_max_pool1d(input, sizesOrOwn(1, outputSize, input)).result0();
    }

    /**
     * As {@link #adaptiveMaxPool1d}, with the places.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the results
     */
    public static Pooled adaptiveMaxPool1dWithIndices(Tensor input, long... outputSize) {
        return Pooled.of(Torch.adaptive_max_pool1d(input, sizesOrOwn(1, outputSize, input)));
    }

    /**
     * Puts numbers where max pooling found them, and zeros elsewhere.
     *
     * @param input any shape
     * @param indices places that the pooling has returned
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor maxUnpool1d(
            Tensor input, Tensor indices, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] outputSize) {
        long[] size = Arrays.copyOf(unpooledSize(input, kernelSize, stride, padding, outputSize), 2);
        size[1] = 1;
        return Torch.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1);
    }

    /**
     * The norm of each window.
     *
     * @param input any shape
     * @param normType degree of the norm
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param ceilMode round the size of the output up
     * @return the result
     */
    public static Tensor lpPool1d(Tensor input, double normType, long[] kernelSize, long[] stride, boolean ceilMode) {
        Tensor mean = Torch.avg_pool1d(input.pow(normType), kernelSize, stride, new long[] {0}, ceilMode);
        return normOfMean(mean, kernelSize[0], normType);
    }

    /**
     * The largest number of each window; windows do not overlap.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @return the result
     */
    public static Tensor maxPool2d(Tensor input, long... kernelSize) {
        return Torch.max_pool2d(input, kernelSize);
    }

    /**
     * The largest number of each window.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param ceilMode round the size of the output up
     * @return the result
     */
    public static Tensor maxPool2d(Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Torch.max_pool2d(input, kernelSize, stride, padding, dilation, ceilMode);
    }

    /**
     * The largest number of each window, and where it is.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param ceilMode round the size of the output up
     * @return the results
     */
    public static Pooled maxPool2dWithIndices(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Pooled.of(Torch.max_pool2d_with_indices(input, kernelSize, stride, padding, dilation, ceilMode));
    }

    /**
     * The mean of each window; windows do not overlap.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @return the result
     */
    public static Tensor avgPool2d(Tensor input, long... kernelSize) {
        return Torch.avg_pool2d(input, kernelSize);
    }

    /**
     * The mean of each window.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param ceilMode round the size of the output up
     * @param countIncludePad count the zeros of the padding
     * @param divisorOverride divisor instead of the size of a window, or null
     * @return the result
     */
    public static Tensor avgPool2d(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, boolean ceilMode, boolean countIncludePad, @Nullable Long
            divisorOverride) {
        return Torch.avg_pool2d(input, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride);
    }

    /**
     * The mean of each of as many windows as the output has elements. A size of -1 is that of the input.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor adaptiveAvgPool2d(Tensor input, long... outputSize) {
        return Torch.adaptive_avg_pool2d(input, sizesOrOwn(2, outputSize, input));
    }

    /**
     * The largest number of each of as many windows as the output has elements. A size of -1 is that of the input.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor adaptiveMaxPool2d(Tensor input, long... outputSize) {
        return Torch.adaptive_max_pool2d(input, sizesOrOwn(2, outputSize, input)).result0();
    }

    /**
     * As {@link #adaptiveMaxPool2d}, with the places.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the results
     */
    public static Pooled adaptiveMaxPool2dWithIndices(Tensor input, long... outputSize) {
        return Pooled.of(Torch.adaptive_max_pool2d(input, sizesOrOwn(2, outputSize, input)));
    }

    /**
     * Puts numbers where max pooling found them, and zeros elsewhere.
     *
     * @param input any shape
     * @param indices places that the pooling has returned
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor maxUnpool2d(
            Tensor input, Tensor indices, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] outputSize) {
        return Torch.max_unpool2d(input, indices, unpooledSize(input, kernelSize, stride, padding, outputSize));
    }

    /**
     * The largest number of windows that lie at random. Either a size or a ratio is given.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param outputSize size of the output
     * @param outputRatio ratio of output to input, or null
     * @param randomSamples what places the windows, or null to draw it
     * @return the results
     */
    public static Pooled fractionalMaxPool2d(
            Tensor input, long[] kernelSize, long @Nullable [] outputSize, double @Nullable [] outputRatio, @Nullable Tensor randomSamples) {
        long[] size = fractionalSize(2, input, outputSize, outputRatio);
        return Pooled.of(Torch.fractional_max_pool2d(input, kernelSize, size, samples(2, input, randomSamples)));
    }

    /**
     * The norm of each window.
     *
     * @param input any shape
     * @param normType degree of the norm
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param ceilMode round the size of the output up
     * @return the result
     */
    public static Tensor lpPool2d(Tensor input, double normType, long[] kernelSize, long[] stride, boolean ceilMode) {
        Tensor mean = Torch.avg_pool2d(input.pow(normType), kernelSize, stride, new long[] {0, 0}, ceilMode);
        return normOfMean(mean, kernelSize[0] * kernelSize[1], normType);
    }

    /**
     * The largest number of each window; windows do not overlap.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @return the result
     */
    public static Tensor maxPool3d(Tensor input, long... kernelSize) {
        return Torch.max_pool3d(input, kernelSize);
    }

    /**
     * The largest number of each window.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param ceilMode round the size of the output up
     * @return the result
     */
    public static Tensor maxPool3d(Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Torch.max_pool3d(input, kernelSize, stride, padding, dilation, ceilMode);
    }

    /**
     * The largest number of each window, and where it is.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param dilation distance of the elements of a window
     * @param ceilMode round the size of the output up
     * @return the results
     */
    public static Pooled maxPool3dWithIndices(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Pooled.of(Torch.max_pool3d_with_indices(input, kernelSize, stride, padding, dilation, ceilMode));
    }

    /**
     * The mean of each window; windows do not overlap.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @return the result
     */
    public static Tensor avgPool3d(Tensor input, long... kernelSize) {
        return Torch.avg_pool3d(input, kernelSize);
    }

    /**
     * The mean of each window.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param ceilMode round the size of the output up
     * @param countIncludePad count the zeros of the padding
     * @param divisorOverride divisor instead of the size of a window, or null
     * @return the result
     */
    public static Tensor avgPool3d(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, boolean ceilMode, boolean countIncludePad, @Nullable Long
            divisorOverride) {
        return Torch.avg_pool3d(input, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride);
    }

    /**
     * The mean of each of as many windows as the output has elements. A size of -1 is that of the input.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor adaptiveAvgPool3d(Tensor input, long... outputSize) {
        return Torch.adaptive_avg_pool3d(input, sizesOrOwn(3, outputSize, input));
    }

    /**
     * The largest number of each of as many windows as the output has elements. A size of -1 is that of the input.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor adaptiveMaxPool3d(Tensor input, long... outputSize) {
        return Torch.adaptive_max_pool3d(input, sizesOrOwn(3, outputSize, input)).result0();
    }

    /**
     * As {@link #adaptiveMaxPool3d}, with the places.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @return the results
     */
    public static Pooled adaptiveMaxPool3dWithIndices(Tensor input, long... outputSize) {
        return Pooled.of(Torch.adaptive_max_pool3d(input, sizesOrOwn(3, outputSize, input)));
    }

    /**
     * Puts numbers where max pooling found them, and zeros elsewhere.
     *
     * @param input any shape
     * @param indices places that the pooling has returned
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param padding zeros on both sides
     * @param outputSize size of the output
     * @return the result
     */
    public static Tensor maxUnpool3d(
            Tensor input, Tensor indices, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] outputSize) {
        return Torch.max_unpool3d(input, indices, unpooledSize(input, kernelSize, stride, padding, outputSize), stride, padding);
    }

    /**
     * The largest number of windows that lie at random. Either a size or a ratio is given.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param outputSize size of the output
     * @param outputRatio ratio of output to input, or null
     * @param randomSamples what places the windows, or null to draw it
     * @return the results
     */
    public static Pooled fractionalMaxPool3d(
            Tensor input, long[] kernelSize, long @Nullable [] outputSize, double @Nullable [] outputRatio, @Nullable Tensor randomSamples) {
        long[] size = fractionalSize(3, input, outputSize, outputRatio);
        return Pooled.of(Torch.fractional_max_pool3d(input, kernelSize, size, samples(3, input, randomSamples)));
    }

    /**
     * The norm of each window.
     *
     * @param input any shape
     * @param normType degree of the norm
     * @param kernelSize size of a window
     * @param stride distance of windows
     * @param ceilMode round the size of the output up
     * @return the result
     */
    public static Tensor lpPool3d(Tensor input, double normType, long[] kernelSize, long[] stride, boolean ceilMode) {
        Tensor mean = Torch.avg_pool3d(input.pow(normType), kernelSize, stride, new long[] {0, 0, 0}, ceilMode);
        return normOfMean(mean, kernelSize[0] * kernelSize[1] * kernelSize[2], normType);
    }

    /** The sizes asked for; where one is -1, that of the input. */
    private static long[] sizesOrOwn(int dims, long[] sizes, Tensor input) {
        long[] wanted = Sizes.expand("output_size", sizes, dims);
        long[] own = input.shape();
        if (own.length <= dims) {
            throw new TensorValueException("Input dimension should be at least " + (dims + 1));
        }
        for (int i = 0; i < dims; i++) {
            wanted[i] = wanted[i] == -1 ? own[own.length - dims + i] : wanted[i];
        }
        return wanted;
    }

    /** The size that pools to that of the input; {@code wanted} chooses among those that do. */
    private static long[] unpooledSize(Tensor input, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] wanted) {
        int dims = kernelSize.length;
        long[] sizes = input.shape();
        long[] usual = new long[dims];
        for (int i = 0; i < dims; i++) {
            usual[i] = (sizes[sizes.length - dims + i] - 1) * stride[i] + kernelSize[i] - 2 * padding[i];
        }
        if (wanted == null) {
            return usual;
        }
        long[] size = wanted.length == dims + 2 ? Arrays.copyOfRange(wanted, 2, wanted.length) : wanted;
        if (size.length != dims) {
            throw new TensorValueException("output_size should be a sequence containing " + dims + " or " + (dims + 2)
                + " elements, but it has a length of '" + size.length + "'");
        }
        for (int i = 0; i < dims; i++) {
            long low = usual[i] - stride[i];
            long high = usual[i] + stride[i];
            if (size[i] < low || size[i] > high) {
                throw new TensorValueException("invalid output_size " + Repr.text(size) + " (dim " + i + " must be between " + low
                    + " and " + high + ")");
            }
        }
        return size;
    }

    private static long[] fractionalSize(int dims, Tensor input, long @Nullable [] outputSize, double @Nullable [] outputRatio) {
        if (outputSize != null) {
            return outputSize;
        }
        if (outputRatio == null) {
            throw new TensorValueException(
                "fractional_max_pool" + dims + "d requires specifying either an output_size or an output_ratio");
        }
        long[] size = new long[dims];
        for (int i = 0; i < dims; i++) {
            size[i] = (long) (input.size(i - dims) * outputRatio[i]);
        }
        return size;
    }

    private static Tensor samples(int dims, Tensor input, @Nullable Tensor given) {
        if (given != null) {
            return given;
        }
        long batch = input.dim() == dims + 1 ? 1 : input.size(0);
        return Torch.rand(new long[] {batch, input.size(-dims - 1), dims}, input.options());
    }

    /** From means of powers to norms. */
    private static Tensor normOfMean(Tensor mean, long count, double normType) {
        return mean.sign().mul(mean.abs().relu()).mul(count).pow(1.0 / normType);
    }
}
