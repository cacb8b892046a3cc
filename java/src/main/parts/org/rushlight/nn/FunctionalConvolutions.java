package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Linear layers, convolutions and pooling: part of {@link Functional}. */
public abstract class FunctionalConvolutions {
    FunctionalConvolutions() {}

    /**
     * Applies a linear transformation: {@code y = x W^T + b}.
     *
     * @param input tensor of shape {@code (*, in_features)}
     * @param weight tensor of shape {@code (out_features, in_features)}
     * @param bias tensor of shape {@code (out_features)}, or null for none
     * @return tensor of shape {@code (*, out_features)}
     */
    public static Tensor linear(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.linear(input, weight, bias);
    }

    /**
     * Applies a bilinear transformation: {@code y[k] = x1^T W[k] x2 + b[k]}.
     *
     * @param input1 tensor of shape {@code (*, in1_features)}
     * @param input2 tensor of shape {@code (*, in2_features)}; all dimensions but the last equal those of {@code
     *     input1}
     * @param weight tensor of shape {@code (out_features, in1_features, in2_features)}
     * @param bias tensor of shape {@code (out_features)}, or null for none
     * @return tensor of shape {@code (*, out_features)}
     */
    public static Tensor bilinear(Tensor input1, Tensor input2, Tensor weight, @Nullable Tensor bias) {
        return Torch.bilinear(input1, input2, weight, bias);
    }

    /**
     * Applies a 1D convolution with stride 1, no padding, dilation 1 and one group.
     *
     * @param input tensor of shape {@code (N, C_in, L)} or {@code (C_in, L)}
     * @param weight filters of shape {@code (C_out, C_in / groups, kL)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @return tensor of shape {@code (N, C_out, L_out)} or {@code (C_out, L_out)}
     */
    public static Tensor conv1d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv1d(input, weight, bias);
    }

    /**
     * Applies a 1D convolution.
     *
     * @param input tensor of shape {@code (N, C_in, L)} or {@code (C_in, L)}
     * @param weight filters of shape {@code (C_out, C_in / groups, kL)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @param stride stride of the convolution, one number (default 1)
     * @param padding implicit zeros added to both sides of each spatial dimension, one number (default 0)
     * @param dilation spacing between kernel elements, one number (default 1)
     * @param groups number of groups into which the channels are split (default 1)
     * @return tensor of shape {@code (N, C_out, L_out)} or {@code (C_out, L_out)}
     */
    public static Tensor conv1d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] dilation, long groups) {
        return Torch.conv1d(input, weight, bias, stride, padding, dilation, groups);
    }

    /**
     * Applies a 1D transposed convolution with stride 1, no padding, dilation 1 and one group.
     *
     * @param input tensor of shape {@code (N, C_in, L)} or {@code (C_in, L)}
     * @param weight filters of shape {@code (C_in, C_out / groups, kL)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @return tensor of shape {@code (N, C_out, L_out)} or {@code (C_out, L_out)}
     */
    public static Tensor convTranspose1d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.convTranspose1d(input, weight, bias);
    }

    /**
     * Applies a 1D transposed convolution, also called fractionally-strided convolution.
     *
     * @param input tensor of shape {@code (N, C_in, L)} or {@code (C_in, L)}
     * @param weight filters of shape {@code (C_in, C_out / groups, kL)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @param stride stride of the transposed convolution, one number (default 1)
     * @param padding reduces each side of the output: {@code dilation * (kernel_size - 1) - padding} zeros are added to
     *     both sides of the input, one number (default 0)
     * @param outputPadding size added to one side of the output in each spatial dimension, one number (default 0)
     * @param groups number of groups into which the channels are split (default 1)
     * @param dilation spacing between kernel elements, one number (default 1)
     * @return tensor of shape {@code (N, C_out, L_out)} or {@code (C_out, L_out)}
     */
    public static Tensor convTranspose1d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] outputPadding, long groups, long[]
            dilation) {
        return Torch.convTranspose1d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
    }

    /**
     * Applies a 2D convolution with stride 1, no padding, dilation 1 and one group.
     *
     * @param input tensor of shape {@code (N, C_in, H, W)} or {@code (C_in, H, W)}
     * @param weight filters of shape {@code (C_out, C_in / groups, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @return tensor of shape {@code (N, C_out, H_out, W_out)} or {@code (C_out, H_out, W_out)}
     */
    public static Tensor conv2d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv2d(input, weight, bias);
    }

    /**
     * Applies a 2D convolution.
     *
     * @param input tensor of shape {@code (N, C_in, H, W)} or {@code (C_in, H, W)}
     * @param weight filters of shape {@code (C_out, C_in / groups, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @param stride stride of the convolution, two numbers, or a single one for all dimensions (default 1)
     * @param padding implicit zeros added to both sides of each spatial dimension, two numbers, or a single one for all
     *     dimensions (default 0)
     * @param dilation spacing between kernel elements, two numbers, or a single one for all dimensions (default 1)
     * @param groups number of groups into which the channels are split (default 1)
     * @return tensor of shape {@code (N, C_out, H_out, W_out)} or {@code (C_out, H_out, W_out)}
     */
    public static Tensor conv2d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] dilation, long groups) {
        return Torch.conv2d(input, weight, bias, stride, padding, dilation, groups);
    }

    /**
     * Applies a 2D transposed convolution with stride 1, no padding, dilation 1 and one group.
     *
     * @param input tensor of shape {@code (N, C_in, H, W)} or {@code (C_in, H, W)}
     * @param weight filters of shape {@code (C_in, C_out / groups, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @return tensor of shape {@code (N, C_out, H_out, W_out)} or {@code (C_out, H_out, W_out)}
     */
    public static Tensor convTranspose2d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.convTranspose2d(input, weight, bias);
    }

    /**
     * Applies a 2D transposed convolution, also called fractionally-strided convolution.
     *
     * @param input tensor of shape {@code (N, C_in, H, W)} or {@code (C_in, H, W)}
     * @param weight filters of shape {@code (C_in, C_out / groups, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @param stride stride of the transposed convolution, two numbers, or a single one for all dimensions (default 1)
     * @param padding reduces each side of the output: {@code dilation * (kernel_size - 1) - padding} zeros are added to
     *     both sides of the input, two numbers, or a single one for all dimensions (default 0)
     * @param outputPadding size added to one side of the output in each spatial dimension, two numbers, or a single one
     *     for all dimensions (default 0)
     * @param groups number of groups into which the channels are split (default 1)
     * @param dilation spacing between kernel elements, two numbers, or a single one for all dimensions (default 1)
     * @return tensor of shape {@code (N, C_out, H_out, W_out)} or {@code (C_out, H_out, W_out)}
     */
    public static Tensor convTranspose2d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] outputPadding, long groups, long[]
            dilation) {
        return Torch.convTranspose2d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
    }

    /**
     * Applies a 3D convolution with stride 1, no padding, dilation 1 and one group.
     *
     * @param input tensor of shape {@code (N, C_in, D, H, W)} or {@code (C_in, D, H, W)}
     * @param weight filters of shape {@code (C_out, C_in / groups, kD, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @return tensor of shape {@code (N, C_out, D_out, H_out, W_out)} or {@code (C_out, D_out, H_out, W_out)}
     */
    public static Tensor conv3d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.conv3d(input, weight, bias);
    }

    /**
     * Applies a 3D convolution.
     *
     * @param input tensor of shape {@code (N, C_in, D, H, W)} or {@code (C_in, D, H, W)}
     * @param weight filters of shape {@code (C_out, C_in / groups, kD, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @param stride stride of the convolution, three numbers, or a single one for all dimensions (default 1)
     * @param padding implicit zeros added to both sides of each spatial dimension, three numbers, or a single one for
     *     all dimensions (default 0)
     * @param dilation spacing between kernel elements, three numbers, or a single one for all dimensions (default 1)
     * @param groups number of groups into which the channels are split (default 1)
     * @return tensor of shape {@code (N, C_out, D_out, H_out, W_out)} or {@code (C_out, D_out, H_out, W_out)}
     */
    public static Tensor conv3d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] dilation, long groups) {
        return Torch.conv3d(input, weight, bias, stride, padding, dilation, groups);
    }

    /**
     * Applies a 3D transposed convolution with stride 1, no padding, dilation 1 and one group.
     *
     * @param input tensor of shape {@code (N, C_in, D, H, W)} or {@code (C_in, D, H, W)}
     * @param weight filters of shape {@code (C_in, C_out / groups, kD, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @return tensor of shape {@code (N, C_out, D_out, H_out, W_out)} or {@code (C_out, D_out, H_out, W_out)}
     */
    public static Tensor convTranspose3d(Tensor input, Tensor weight, @Nullable Tensor bias) {
        return Torch.convTranspose3d(input, weight, bias);
    }

    /**
     * Applies a 3D transposed convolution, also called fractionally-strided convolution.
     *
     * @param input tensor of shape {@code (N, C_in, D, H, W)} or {@code (C_in, D, H, W)}
     * @param weight filters of shape {@code (C_in, C_out / groups, kD, kH, kW)}
     * @param bias tensor of shape {@code (C_out)}, or null for none
     * @param stride stride of the transposed convolution, three numbers, or a single one for all dimensions (default 1)
     * @param padding reduces each side of the output: {@code dilation * (kernel_size - 1) - padding} zeros are added to
     *     both sides of the input, three numbers, or a single one for all dimensions (default 0)
     * @param outputPadding size added to one side of the output in each spatial dimension, three numbers, or a single
     *     one for all dimensions (default 0)
     * @param groups number of groups into which the channels are split (default 1)
     * @param dilation spacing between kernel elements, three numbers, or a single one for all dimensions (default 1)
     * @return tensor of shape {@code (N, C_out, D_out, H_out, W_out)} or {@code (C_out, D_out, H_out, W_out)}
     */
    public static Tensor convTranspose3d(
            Tensor input, Tensor weight, @Nullable Tensor bias, long[] stride, long[] padding, long[] outputPadding, long groups, long[]
            dilation) {
        return Torch.convTranspose3d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
    }

    /**
     * Applies 1D max pooling with a stride equal to the window size, so that windows do not overlap.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param kernelSize size of the pooling window, one number
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor maxPool1d(Tensor input, long... kernelSize) {
        return Torch.maxPool1d(input, kernelSize);
    }

    /**
     * Applies 1D max pooling.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param kernelSize size of the pooling window, one number
     * @param stride stride of the window, one number; empty for {@code kernelSize}
     * @param padding implicit negative infinity padding on both sides, at most half of the window, one number (default
     *     0)
     * @param dilation spacing between the elements of a window, one number (default 1)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor maxPool1d(Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Torch.maxPool1d(input, kernelSize, stride, padding, dilation, ceilMode);
    }

    /**
     * Applies 1D max pooling and also returns the indices of the maxima, as {@link #maxUnpool1d} takes them.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param kernelSize size of the pooling window, one number
     * @param stride stride of the window, one number; empty for {@code kernelSize}
     * @param padding implicit negative infinity padding on both sides, at most half of the window, one number (default
     *     0)
     * @param dilation spacing between the elements of a window, one number (default 1)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return the maxima and their indices, both of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Pooled maxPool1dWithIndices(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Pooled.of(Torch.maxPool1dWithIndices(input, kernelSize, stride, padding, dilation, ceilMode));
    }

    /**
     * Applies 1D average pooling with a stride equal to the window size, so that windows do not overlap.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param kernelSize size of the pooling window, one number
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor avgPool1d(Tensor input, long... kernelSize) {
        return Torch.avgPool1d(input, kernelSize);
    }

    /**
     * Applies 1D average pooling.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param kernelSize size of the pooling window, one number
     * @param stride stride of the window, one number; empty for {@code kernelSize}
     * @param padding implicit zero padding on both sides, at most half of the window, one number (default 0)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @param countIncludePad whether the mean includes the zeros of the padding (default true)
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor avgPool1d(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, boolean ceilMode, boolean countIncludePad) {
        return Torch.avgPool1d(input, kernelSize, stride, padding, ceilMode, countIncludePad);
    }

    /**
     * Applies 1D adaptive average pooling: the windows are chosen to give the requested output size.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param outputSize spatial size of the output, one number; -1 keeps the size of the input
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor adaptiveAvgPool1d(Tensor input, long... outputSize) {
        return Torch.adaptiveAvgPool1d(input, sizesOrOwn(1, outputSize, input));
    }

    /**
     * Applies 1D adaptive max pooling: the windows are chosen to give the requested output size.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param outputSize spatial size of the output, one number; -1 keeps the size of the input
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor adaptiveMaxPool1d(Tensor input, long... outputSize) {
        return Torch.adaptiveMaxPool1d(input, sizesOrOwn(1, outputSize, input)).result0();
    }

    /**
     * Applies 1D adaptive max pooling and also returns the indices of the maxima.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param outputSize spatial size of the output, one number; -1 keeps the size of the input
     * @return the maxima and their indices
     */
    public static Pooled adaptiveMaxPool1dWithIndices(Tensor input, long... outputSize) {
        return Pooled.of(Torch.adaptiveMaxPool1d(input, sizesOrOwn(1, outputSize, input)));
    }

    /**
     * Computes a partial inverse of max pooling: puts each value at the index of its maximum, and zeros elsewhere.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}, the maxima
     * @param indices indices of the maxima, as {@link #maxPool1dWithIndices} returns them; same shape as {@code input}
     * @param kernelSize size of the pooling window, one number
     * @param stride stride of the window, one number
     * @param padding padding of the pooling, one number
     * @param outputSize spatial size or whole shape of the output, or null for the smallest size that pools to that of
     *     the input
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor maxUnpool1d(
            Tensor input, Tensor indices, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] outputSize) {
        long[] size = Arrays.copyOf(unpooledSize(1, input, kernelSize, stride, padding, outputSize), 2);
        size[1] = 1;
        return Torch.maxUnpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1);
    }

    /**
     * Applies 1D power-average pooling: {@code sum(x^p)^(1/p)} over each window.
     *
     * @param input tensor of shape {@code (N, C, L)} or {@code (C, L)}
     * @param normType exponent {@code p}
     * @param kernelSize size of the pooling window, one number
     * @param stride stride of the window, one number; empty for {@code kernelSize}
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return tensor of shape {@code (N, C, L_out)} or {@code (C, L_out)}
     */
    public static Tensor lpPool1d(Tensor input, double normType, long[] kernelSize, long[] stride, boolean ceilMode) {
        long[] size = Sizes.expand("kernel_size", kernelSize, 1);
        Tensor mean = Torch.avgPool1d(input.pow(normType), size, stride, new long[] {0}, ceilMode);
        return normOfMean(mean, size, normType);
    }

    /**
     * Applies 2D max pooling with a stride equal to the window size, so that windows do not overlap.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param kernelSize size of the pooling window, two numbers, or a single one for all dimensions
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor maxPool2d(Tensor input, long... kernelSize) {
        return Torch.maxPool2d(input, kernelSize);
    }

    /**
     * Applies 2D max pooling.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param kernelSize size of the pooling window, two numbers, or a single one for all dimensions
     * @param stride stride of the window, two numbers, or a single one for all dimensions; empty for {@code kernelSize}
     * @param padding implicit negative infinity padding on both sides, at most half of the window, two numbers, or a
     *     single one for all dimensions (default 0)
     * @param dilation spacing between the elements of a window, two numbers, or a single one for all dimensions
     *     (default 1)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor maxPool2d(Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Torch.maxPool2d(input, kernelSize, stride, padding, dilation, ceilMode);
    }

    /**
     * Applies 2D max pooling and also returns the indices of the maxima, as {@link #maxUnpool2d} takes them.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param kernelSize size of the pooling window, two numbers, or a single one for all dimensions
     * @param stride stride of the window, two numbers, or a single one for all dimensions; empty for {@code kernelSize}
     * @param padding implicit negative infinity padding on both sides, at most half of the window, two numbers, or a
     *     single one for all dimensions (default 0)
     * @param dilation spacing between the elements of a window, two numbers, or a single one for all dimensions
     *     (default 1)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return the maxima and their indices, both of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Pooled maxPool2dWithIndices(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Pooled.of(Torch.maxPool2dWithIndices(input, kernelSize, stride, padding, dilation, ceilMode));
    }

    /**
     * Applies 2D average pooling with a stride equal to the window size, so that windows do not overlap.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param kernelSize size of the pooling window, two numbers, or a single one for all dimensions
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor avgPool2d(Tensor input, long... kernelSize) {
        return Torch.avgPool2d(input, kernelSize);
    }

    /**
     * Applies 2D average pooling.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param kernelSize size of the pooling window, two numbers, or a single one for all dimensions
     * @param stride stride of the window, two numbers, or a single one for all dimensions; empty for {@code kernelSize}
     * @param padding implicit zero padding on both sides, at most half of the window, two numbers, or a single one for
     *     all dimensions (default 0)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @param countIncludePad whether the mean includes the zeros of the padding (default true)
     * @param divisorOverride divisor to use instead of the number of elements of the window, or null
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor avgPool2d(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, boolean ceilMode, boolean countIncludePad, @Nullable Long
            divisorOverride) {
        return Torch.avgPool2d(input, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride);
    }

    /**
     * Applies 2D adaptive average pooling: the windows are chosen to give the requested output size.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param outputSize spatial size of the output, two numbers, or a single one for all dimensions; -1 keeps the size
     *     of the input
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor adaptiveAvgPool2d(Tensor input, long... outputSize) {
        return Torch.adaptiveAvgPool2d(input, sizesOrOwn(2, outputSize, input));
    }

    /**
     * Applies 2D adaptive max pooling: the windows are chosen to give the requested output size.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param outputSize spatial size of the output, two numbers, or a single one for all dimensions; -1 keeps the size
     *     of the input
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor adaptiveMaxPool2d(Tensor input, long... outputSize) {
        return Torch.adaptiveMaxPool2d(input, sizesOrOwn(2, outputSize, input)).result0();
    }

    /**
     * Applies 2D adaptive max pooling and also returns the indices of the maxima.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param outputSize spatial size of the output, two numbers, or a single one for all dimensions; -1 keeps the size
     *     of the input
     * @return the maxima and their indices
     */
    public static Pooled adaptiveMaxPool2dWithIndices(Tensor input, long... outputSize) {
        return Pooled.of(Torch.adaptiveMaxPool2d(input, sizesOrOwn(2, outputSize, input)));
    }

    /**
     * Computes a partial inverse of max pooling: puts each value at the index of its maximum, and zeros elsewhere.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}, the maxima
     * @param indices indices of the maxima, as {@link #maxPool2dWithIndices} returns them; same shape as {@code input}
     * @param kernelSize size of the pooling window, two numbers
     * @param stride stride of the window, two numbers
     * @param padding padding of the pooling, two numbers
     * @param outputSize spatial size or whole shape of the output, or null for the smallest size that pools to that of
     *     the input
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor maxUnpool2d(
            Tensor input, Tensor indices, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] outputSize) {
        return Torch.maxUnpool2d(input, indices, unpooledSize(2, input, kernelSize, stride, padding, outputSize));
    }

    /**
     * Applies 2D fractional max pooling, whose window positions are random. Exactly one of {@code outputSize} and
     * {@code outputRatio} is given.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param kernelSize size of the pooling window, two numbers, or a single one for all dimensions
     * @param outputSize spatial size of the output, two numbers, or a single one for all dimensions; or null
     * @param outputRatio ratios of output size to input size, each between 0 and 1, one per spatial dimension; or null
     * @param randomSamples random numbers from [0, 1) that determine the window positions, of shape {@code (N, C, 2)},
     *     or null to sample them
     * @return the maxima and their indices
     */
    public static Pooled fractionalMaxPool2d(
            Tensor input, long[] kernelSize, long @Nullable [] outputSize, double @Nullable [] outputRatio, @Nullable Tensor randomSamples) {
        long[] size = fractionalSize(2, input, outputSize, outputRatio);
        return Pooled.of(Torch.fractionalMaxPool2d(input, kernelSize, size, samples(2, input, randomSamples)));
    }

    /**
     * Applies 2D power-average pooling: {@code sum(x^p)^(1/p)} over each window.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param normType exponent {@code p}
     * @param kernelSize size of the pooling window, two numbers
     * @param stride stride of the window, two numbers, or a single one for all dimensions; empty for {@code kernelSize}
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (C, H_out, W_out)}
     */
    public static Tensor lpPool2d(Tensor input, double normType, long[] kernelSize, long[] stride, boolean ceilMode) {
        long[] size = Sizes.expand("kernel_size", kernelSize, 2);
        Tensor mean = Torch.avgPool2d(input.pow(normType), size, stride, new long[] {0, 0}, ceilMode);
        return normOfMean(mean, size, normType);
    }

    /**
     * Applies 3D max pooling with a stride equal to the window size, so that windows do not overlap.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param kernelSize size of the pooling window, three numbers, or a single one for all dimensions
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor maxPool3d(Tensor input, long... kernelSize) {
        return Torch.maxPool3d(input, kernelSize);
    }

    /**
     * Applies 3D max pooling.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param kernelSize size of the pooling window, three numbers, or a single one for all dimensions
     * @param stride stride of the window, three numbers, or a single one for all dimensions; empty for {@code
     *     kernelSize}
     * @param padding implicit negative infinity padding on both sides, at most half of the window, three numbers, or a
     *     single one for all dimensions (default 0)
     * @param dilation spacing between the elements of a window, three numbers, or a single one for all dimensions
     *     (default 1)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor maxPool3d(Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Torch.maxPool3d(input, kernelSize, stride, padding, dilation, ceilMode);
    }

    /**
     * Applies 3D max pooling and also returns the indices of the maxima, as {@link #maxUnpool3d} takes them.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param kernelSize size of the pooling window, three numbers, or a single one for all dimensions
     * @param stride stride of the window, three numbers, or a single one for all dimensions; empty for {@code
     *     kernelSize}
     * @param padding implicit negative infinity padding on both sides, at most half of the window, three numbers, or a
     *     single one for all dimensions (default 0)
     * @param dilation spacing between the elements of a window, three numbers, or a single one for all dimensions
     *     (default 1)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return the maxima and their indices, both of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out,
     *     H_out, W_out)}
     */
    public static Pooled maxPool3dWithIndices(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, long[] dilation, boolean ceilMode) {
        return Pooled.of(Torch.maxPool3dWithIndices(input, kernelSize, stride, padding, dilation, ceilMode));
    }

    /**
     * Applies 3D average pooling with a stride equal to the window size, so that windows do not overlap.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param kernelSize size of the pooling window, three numbers, or a single one for all dimensions
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor avgPool3d(Tensor input, long... kernelSize) {
        return Torch.avgPool3d(input, kernelSize);
    }

    /**
     * Applies 3D average pooling.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param kernelSize size of the pooling window, three numbers, or a single one for all dimensions
     * @param stride stride of the window, three numbers, or a single one for all dimensions; empty for {@code
     *     kernelSize}
     * @param padding implicit zero padding on both sides, at most half of the window, three numbers, or a single one
     *     for all dimensions (default 0)
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @param countIncludePad whether the mean includes the zeros of the padding (default true)
     * @param divisorOverride divisor to use instead of the number of elements of the window, or null
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor avgPool3d(
            Tensor input, long[] kernelSize, long[] stride, long[] padding, boolean ceilMode, boolean countIncludePad, @Nullable Long
            divisorOverride) {
        return Torch.avgPool3d(input, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride);
    }

    /**
     * Applies 3D adaptive average pooling: the windows are chosen to give the requested output size.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param outputSize spatial size of the output, three numbers, or a single one for all dimensions; -1 keeps the
     *     size of the input
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor adaptiveAvgPool3d(Tensor input, long... outputSize) {
        return Torch.adaptiveAvgPool3d(input, sizesOrOwn(3, outputSize, input));
    }

    /**
     * Applies 3D adaptive max pooling: the windows are chosen to give the requested output size.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param outputSize spatial size of the output, three numbers, or a single one for all dimensions; -1 keeps the
     *     size of the input
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor adaptiveMaxPool3d(Tensor input, long... outputSize) {
        return Torch.adaptiveMaxPool3d(input, sizesOrOwn(3, outputSize, input)).result0();
    }

    /**
     * Applies 3D adaptive max pooling and also returns the indices of the maxima.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param outputSize spatial size of the output, three numbers, or a single one for all dimensions; -1 keeps the
     *     size of the input
     * @return the maxima and their indices
     */
    public static Pooled adaptiveMaxPool3dWithIndices(Tensor input, long... outputSize) {
        return Pooled.of(Torch.adaptiveMaxPool3d(input, sizesOrOwn(3, outputSize, input)));
    }

    /**
     * Computes a partial inverse of max pooling: puts each value at the index of its maximum, and zeros elsewhere.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}, the maxima
     * @param indices indices of the maxima, as {@link #maxPool3dWithIndices} returns them; same shape as {@code input}
     * @param kernelSize size of the pooling window, three numbers
     * @param stride stride of the window, three numbers
     * @param padding padding of the pooling, three numbers
     * @param outputSize spatial size or whole shape of the output, or null for the smallest size that pools to that of
     *     the input
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor maxUnpool3d(
            Tensor input, Tensor indices, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] outputSize) {
        return Torch.maxUnpool3d(input, indices, unpooledSize(3, input, kernelSize, stride, padding, outputSize), stride, padding);
    }

    /**
     * Applies 3D fractional max pooling, whose window positions are random. Exactly one of {@code outputSize} and
     * {@code outputRatio} is given.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param kernelSize size of the pooling window, three numbers, or a single one for all dimensions
     * @param outputSize spatial size of the output, three numbers, or a single one for all dimensions; or null
     * @param outputRatio ratios of output size to input size, each between 0 and 1, one per spatial dimension; or null
     * @param randomSamples random numbers from [0, 1) that determine the window positions, of shape {@code (N, C, 3)},
     *     or null to sample them
     * @return the maxima and their indices
     */
    public static Pooled fractionalMaxPool3d(
            Tensor input, long[] kernelSize, long @Nullable [] outputSize, double @Nullable [] outputRatio, @Nullable Tensor randomSamples) {
        long[] size = fractionalSize(3, input, outputSize, outputRatio);
        return Pooled.of(Torch.fractionalMaxPool3d(input, kernelSize, size, samples(3, input, randomSamples)));
    }

    /**
     * Applies 3D power-average pooling: {@code sum(x^p)^(1/p)} over each window.
     *
     * @param input tensor of shape {@code (N, C, D, H, W)} or {@code (C, D, H, W)}
     * @param normType exponent {@code p}
     * @param kernelSize size of the pooling window, three numbers
     * @param stride stride of the window, three numbers, or a single one for all dimensions; empty for {@code
     *     kernelSize}
     * @param ceilMode whether to round the output size up instead of down (default false)
     * @return tensor of shape {@code (N, C, D_out, H_out, W_out)} or {@code (C, D_out, H_out, W_out)}
     */
    public static Tensor lpPool3d(Tensor input, double normType, long[] kernelSize, long[] stride, boolean ceilMode) {
        long[] size = Sizes.expand("kernel_size", kernelSize, 3);
        Tensor mean = Torch.avgPool3d(input.pow(normType), size, stride, new long[] {0, 0, 0}, ceilMode);
        return normOfMean(mean, size, normType);
    }

    /** Returns the requested sizes, with -1 replaced by the input size. */
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

    /**
     * Returns the output size of unpooling; {@code wanted} selects one of the sizes that pool to the size of the input.
     */
    private static long[] unpooledSize(
            int dims, Tensor input, long[] kernelSize, long[] stride, long[] padding, long @Nullable [] wanted) {
        long[] window = Sizes.expand("kernel_size", kernelSize, dims);
        long[] steps = Sizes.expand("stride", stride, dims);
        long[] zeros = Sizes.expand("padding", padding, dims);
        Sizes.checkDim(input, dims + 1, dims + 2);
        long[] usual = new long[dims];
        for (int i = 0; i < dims; i++) {
            usual[i] = (input.size(i - dims) - 1) * steps[i] + window[i] - 2 * zeros[i];
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
            long low = usual[i] - steps[i];
            long high = usual[i] + steps[i];
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
        if (outputRatio.length != dims) {
            throw new TensorValueException("Expected " + dims + " values for output_ratio, but instead got " + outputRatio.length);
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

    /** Computes norms from means of powers. */
    private static Tensor normOfMean(Tensor mean, long[] kernelSize, double normType) {
        long count = Arrays.stream(kernelSize).reduce(1, (a, b) -> a * b);
        return mean.sign().mul(mean.abs().relu()).mul(count).pow(1.0 / normType);
    }
}
