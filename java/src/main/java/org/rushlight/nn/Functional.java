package org.rushlight.nn;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.NoGrad;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Layers and losses as functions, as in {@code torch.nn.functional}. Modules are parameters and calls of these.
 *
 * <pre>{@code
 * System.out.println(Functional.relu(Tensor.of(-1f, 2f))); // tensor([0., 2.])
 * System.out.println(Functional.mseLoss(Tensor.of(1f, 2f), Tensor.of(1f, 4f))); // tensor(2.)
 * }</pre>
 */
public final class Functional extends FunctionalLosses {
    private Functional() {}

    /**
     * Normalises each channel by the statistics of the batch, or by the running ones.
     *
     * @param input any shape
     * @param runningMean running means, or null
     * @param runningVar running variances, or null
     * @param weight the weight
     * @param bias the bias, or null
     * @param training draw, or pass the input on
     * @param momentum share of the batch in the running statistics
     * @param eps a small number
     * @return the result
     */
    public static Tensor batchNorm(
            Tensor input, @Nullable Tensor runningMean, @Nullable Tensor runningVar, @Nullable Tensor weight, @Nullable Tensor bias,
            boolean training, double momentum, double eps) {
        long[] sizes = input.shape();
        if (sizes.length < 2) {
            throw new TensorValueException("Expected at least 2 input dimensions, but got " + sizes.length);
        }
        if (training && input.numel() == sizes[1]) {
            throw new TensorValueException("Expected more than 1 value per channel when training, got input size " + Sizes.text(input));
        }
        return Torch.batch_norm(input, weight, bias, runningMean, runningVar, training, momentum, eps, true);
    }

    /**
     * Normalises each channel of each sample.
     *
     * @param input any shape
     * @param runningMean running means, or null
     * @param runningVar running variances, or null
     * @param weight the weight
     * @param bias the bias, or null
     * @param useInputStats use the statistics of the input
     * @param momentum share of the batch in the running statistics
     * @param eps a small number
     * @return the result
     */
    public static Tensor instanceNorm(
            Tensor input, @Nullable Tensor runningMean, @Nullable Tensor runningVar, @Nullable Tensor weight, @Nullable Tensor bias,
            boolean useInputStats, double momentum, double eps) {
        return Torch.instance_norm(input, weight, bias, runningMean, runningVar, useInputStats, momentum, eps, true);
    }

    /**
     * Normalises the last dimensions together.
     *
     * @param input any shape
     * @param normalizedShape the last dimensions
     * @param weight the weight
     * @param bias the bias, or null
     * @param eps a small number
     * @return the result
     */
    public static Tensor layerNorm(Tensor input, long[] normalizedShape, @Nullable Tensor weight, @Nullable Tensor bias, double eps) {
        return Torch.layer_norm(input, normalizedShape, weight, bias, eps);
    }

    /**
     * Normalises groups of channels.
     *
     * @param input any shape
     * @param numGroups groups of channels
     * @param weight the weight
     * @param bias the bias, or null
     * @param eps a small number
     * @return the result
     */
    public static Tensor groupNorm(Tensor input, long numGroups, @Nullable Tensor weight, @Nullable Tensor bias, double eps) {
        return Torch.group_norm(input, numGroups, weight, bias, eps);
    }

    /**
     * Divides by a power of the mean square of neighbouring channels.
     *
     * @param input any shape
     * @param size a size
     * @param alpha factor of {@code exp(x) - 1} below zero
     * @param beta factor of the input
     * @param k added to the sum
     * @return the result
     */
    public static Tensor localResponseNorm(Tensor input, long size, double alpha, double beta, double k) {
        if (input.dim() < 3) {
            throw new TensorValueException("Expected 3D or higher dimensionality input (got " + input.dim() + " dimensions)");
        }
        long before = size / 2;
        Tensor squares = input.mul(input).reshape(input.size(0), 1, input.size(1), -1);
        Tensor padded = Torch.constant_pad_nd(squares, 0, 0, before, size - 1 - before);
        Tensor mean = Torch.avg_pool2d(padded, new long[] {size, 1}, 1).view(input.shape());
        return input.div(mean.mul(alpha).add(k).pow(beta));
    }

    /**
     * {@code x / max(|x|, eps)}, with the norm along a dimension.
     *
     * @param input any shape
     * @param p degree of the norm
     * @param dim dimension
     * @param eps a small number
     * @return the result
     */
    public static Tensor normalize(Tensor input, double p, long dim, double eps) {
        return input.div(input.norm(p, dim, true).clamp_min(eps).expand_as(input));
    }

    /**
     * A one at the place of each class.
     *
     * @param tensor class numbers
     * @param numClasses number of classes, -1 for one more than the largest
     * @return the result
     */
    public static Tensor oneHot(Tensor tensor, long numClasses) {
        return Torch.one_hot(tensor, numClasses);
    }

    /**
     * Rows of a table by their numbers.
     *
     * @param input any shape
     * @param weight the weight
     * @return the result
     */
    public static Tensor embedding(Tensor input, Tensor weight) {
        return embedding(input, weight, null, null, 2, false, false);
    }

    /**
     * Rows of a table by their numbers.
     *
     * @param input any shape
     * @param weight the weight
     * @param paddingIdx row that has no gradient, or null
     * @param maxNorm rows of a larger norm are scaled down, or null
     * @param normType degree of the norm
     * @param scaleGradByFreq divide gradients by how often an index occurs
     * @param sparse ask for a sparse gradient
     * @return the result
     */
    public static Tensor embedding(
            Tensor input, Tensor weight, @Nullable Long paddingIdx, @Nullable Double maxNorm, double normType, boolean scaleGradByFreq,
            boolean sparse) {
        long padding = -1;
        if (paddingIdx != null) {
            padding = Sizes.row(paddingIdx, weight.size(0));
        }
        Tensor indices = input;
        if (maxNorm != null) {
            indices = input.contiguous();
            renormaliseRows(weight, indices, maxNorm, normType);
        }
        return Torch.embedding(weight, indices, padding, scaleGradByFreq, sparse);
    }

    /**
     * Sums, means or maxima of bags of rows.
     *
     * @param input any shape
     * @param weight the weight
     * @param offsets where bags begin, or null for a matrix of bags
     * @param options what the bag does
     * @param perSampleWeights factor of each row, or null
     * @return the result
     */
    public static Tensor embeddingBag(
            Tensor input, Tensor weight, @Nullable Tensor offsets, EmbeddingBag.Options options, @Nullable Tensor perSampleWeights) {
        if (perSampleWeights != null && !Arrays.equals(input.shape(), perSampleWeights.shape())) {
            throw new TensorValueException("embedding_bag: If per_sample_weights (" + Sizes.text(perSampleWeights)
                + ") is not null, then it must have the same shape as the input (" + Sizes.text(input) + ")");
        }
        Tensor indices = input;
        Tensor begins = offsets;
        Tensor factors = perSampleWeights;
        if (input.dim() == 2) {
            if (begins != null) {
                throw new TensorValueException("If input is 2D, then offsets has to be null, as input is treated is a mini-batch of fixed length"
                    + " sequences. However, found offsets of type Tensor");
            }
            begins = Torch.arange(0, input.numel(), input.size(1), TensorOptions.of(DType.INT64).withDevice(input.device()));
            indices = input.reshape(-1);
            factors = factors == null ? null : factors.reshape(-1);
        } else if (input.dim() != 1) {
            throw new TensorValueException("input has to be 1D or 2D Tensor, but got Tensor of dimension " + input.dim());
        } else if (begins == null || begins.dim() != 1) {
            throw new TensorValueException("offsets has to be a 1D Tensor" + (begins == null ? " but got null" : ""));
        }
        options.check(factors != null);
        if (options.maxNorm != null) {
            renormaliseRows(weight, indices, options.maxNorm, options.normType);
        }
        return Torch.embedding_bag(weight, indices, begins, options.scaleGradByFreq, options.mode.ordinal(), options.sparse, factors,
            options.includeLastOffset, options.paddingIdx).result0();
    }

    /**
     * Values around a tensor. The mode is {@code constant}, {@code reflect}, {@code replicate} or {@code circular}.
     *
     * @param input any shape
     * @param pad two numbers per dimension, the last dimension first
     * @param mode the mode
     * @param value the number
     * @return the result
     */
    public static Tensor pad(Tensor input, long[] pad, String mode, double value) {
        return Torch.pad(input, pad, mode, value == 0 ? null : Double.valueOf(value));
    }

    /**
     * Zeros around a tensor.
     *
     * @param input any shape
     * @param pad two numbers per dimension, the last dimension first
     * @return the result
     */
    public static Tensor pad(Tensor input, long... pad) {
        return Torch.pad(input, pad);
    }

    /**
     * Channels as pixels.
     *
     * @param input any shape
     * @param upscaleFactor factor of height and width
     * @return the result
     */
    public static Tensor pixelShuffle(Tensor input, long upscaleFactor) {
        return Torch.pixel_shuffle(input, upscaleFactor);
    }

    /**
     * Pixels as channels.
     *
     * @param input any shape
     * @param downscaleFactor divisor of height and width
     * @return the result
     */
    public static Tensor pixelUnshuffle(Tensor input, long downscaleFactor) {
        return Torch.pixel_unshuffle(input, downscaleFactor);
    }

    /**
     * Sums columns into the windows that they came from.
     *
     * @param input any shape
     * @param outputSize size of the output
     * @param kernelSize size of a window
     * @param dilation distance of the elements of a window
     * @param padding zeros on both sides
     * @param stride distance of windows
     * @return the result
     */
    public static Tensor fold(Tensor input, long[] outputSize, long[] kernelSize, long[] dilation, long[] padding, long[] stride) {
        return Torch.col2im(input, outputSize, kernelSize, dilation, padding, stride);
    }

    /**
     * The windows of images as columns.
     *
     * @param input any shape
     * @param kernelSize size of a window
     * @param dilation distance of the elements of a window
     * @param padding zeros on both sides
     * @param stride distance of windows
     * @return the result
     */
    public static Tensor unfold(Tensor input, long[] kernelSize, long[] dilation, long[] padding, long[] stride) {
        return Torch.im2col(input, kernelSize, dilation, padding, stride);
    }

    /**
     * The points of the output of affine maps, as {@link #gridSample} reads them.
     *
     * @param theta affine maps
     * @param size a size
     * @param alignCorners corners of input and output coincide
     * @return the result
     */
    public static Tensor affineGrid(Tensor theta, long[] size, boolean alignCorners) {
        return Torch.affine_grid_generator(theta, size, alignCorners);
    }

    /**
     * The input at the points of a grid. The mode is {@code bilinear}, {@code nearest} or {@code bicubic}.
     *
     * @param input any shape
     * @param grid points from -1 to 1
     * @param mode the mode
     * @param paddingMode {@code zeros}, {@code border} or {@code reflection}
     * @param alignCorners corners of input and output coincide
     * @return the result
     */
    public static Tensor gridSample(Tensor input, Tensor grid, String mode, String paddingMode, boolean alignCorners) {
        long way = Sizes.choice("mode", mode, "bilinear", "nearest", "bicubic");
        long outside = Sizes.choice("padding_mode", paddingMode, "zeros", "border", "reflection");
        return Torch.grid_sampler(input, grid, way, outside, alignCorners);
    }

    /**
     * Resizes by nearest elements or by interpolation.
     *
     * @param input any shape
     * @param options what the bag does
     * @return the result
     */
    public static Tensor interpolate(Tensor input, Upsample.Options options) {
        return Interpolation.of(input, options);
    }

    /**
     * {@code softmax(q k^T scale) v}.
     *
     * @param query queries
     * @param key keys
     * @param value values
     * @param attnMask added to the scores, or where they count; or null
     * @param dropoutP probability of a weight to become zero
     * @param isCausal hide later steps
     * @param scale factor of the scores, or null
     * @return the result
     */
    public static Tensor scaledDotProductAttention(
            Tensor query, Tensor key, Tensor value, @Nullable Tensor attnMask, double dropoutP, boolean isCausal, @Nullable Double scale) {
        return Torch.scaled_dot_product_attention(query, key, value, attnMask, dropoutP, isCausal, scale);
    }

    private static void renormaliseRows(Tensor weight, Tensor indices, double maxNorm, double normType) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            Torch.embedding_renorm_(weight, indices, maxNorm, normType);
        }
    }
}
