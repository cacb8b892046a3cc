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
public final class Functional {
    private Functional() {}

    /**
     * Applies batch normalization to each channel: {@code (x - mean) / sqrt(var + eps) * weight + bias}, with the
     * statistics of the batch or the running statistics.
     *
     * @param input tensor of shape {@code (N, C, *)}
     * @param runningMean running means of shape {@code (C)}, updated if {@code training}; or null
     * @param runningVar running variances of shape {@code (C)}, updated if {@code training}; or null
     * @param weight scale of shape {@code (C)}, or null for 1
     * @param bias shift of shape {@code (C)}, or null for 0
     * @param training whether to normalize with the statistics of the batch (and update the running ones) instead of
     *     the running ones
     * @param momentum weight of the batch in the update of the running statistics (default 0.1)
     * @param eps constant added to the variance for numerical stability (default 1e-5)
     * @return tensor of the same shape as {@code input}
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
        return Torch.batchNorm(input, weight, bias, runningMean, runningVar, training, momentum, eps, true);
    }

    /**
     * Applies instance normalization to each channel of each sample.
     *
     * @param input tensor of shape {@code (N, C, *)}
     * @param runningMean running means of shape {@code (C)}, updated if {@code useInputStats}; or null
     * @param runningVar running variances of shape {@code (C)}, updated if {@code useInputStats}; or null
     * @param weight scale of shape {@code (C)}, or null for 1
     * @param bias shift of shape {@code (C)}, or null for 0
     * @param useInputStats whether to normalize with the statistics of the input instead of the running ones (default
     *     true)
     * @param momentum weight of the input in the update of the running statistics (default 0.1)
     * @param eps constant added to the variance for numerical stability (default 1e-5)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor instanceNorm(
            Tensor input, @Nullable Tensor runningMean, @Nullable Tensor runningVar, @Nullable Tensor weight, @Nullable Tensor bias,
            boolean useInputStats, double momentum, double eps) {
        return Torch.instanceNorm(input, weight, bias, runningMean, runningVar, useInputStats, momentum, eps, true);
    }

    /**
     * Applies layer normalization over the last dimensions.
     *
     * @param input tensor of shape {@code (*, normalizedShape)}
     * @param normalizedShape sizes of the last dimensions, over which mean and variance are computed
     * @param weight scale of shape {@code normalizedShape}, or null for 1
     * @param bias shift of shape {@code normalizedShape}, or null for 0
     * @param eps constant added to the variance for numerical stability (default 1e-5)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor layerNorm(Tensor input, long[] normalizedShape, @Nullable Tensor weight, @Nullable Tensor bias, double eps) {
        return Torch.layerNorm(input, normalizedShape, weight, bias, eps);
    }

    /**
     * Applies group normalization: normalizes groups of channels of each sample.
     *
     * @param input tensor of shape {@code (N, C, *)}
     * @param numGroups number of groups, a divisor of {@code C}
     * @param weight scale of shape {@code (C)}, or null for 1
     * @param bias shift of shape {@code (C)}, or null for 0
     * @param eps constant added to the variance for numerical stability (default 1e-5)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor groupNorm(Tensor input, long numGroups, @Nullable Tensor weight, @Nullable Tensor bias, double eps) {
        return Torch.groupNorm(input, numGroups, weight, bias, eps);
    }

    /**
     * Applies local response normalization over neighbouring channels: {@code x / (k + alpha * mean(x^2))^beta}.
     *
     * @param input tensor of shape {@code (N, C, *)}
     * @param size number of neighbouring channels
     * @param alpha factor of the mean of squares (default 1e-4)
     * @param beta exponent (default 0.75)
     * @param k additive constant (default 1)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor localResponseNorm(Tensor input, long size, double alpha, double beta, double k) {
        if (input.dim() < 3) {
            throw new TensorValueException("Expected 3D or higher dimensionality input (got " + input.dim() + " dimensions)");
        }
        long before = size / 2;
        Tensor squares = input.mul(input).reshape(input.size(0), 1, input.size(1), -1);
        Tensor padded = Torch.constantPadNd(squares, 0, 0, before, size - 1 - before);
        Tensor mean = Torch.avgPool2d(padded, new long[] {size, 1}, 1).view(input.shape());
        return input.div(mean.mul(alpha).add(k).pow(beta));
    }

    /**
     * Divides by the p-norm along a dimension: {@code x / max(|x|_p, eps)}.
     *
     * @param input tensor of any shape
     * @param p degree of the norm (default 2)
     * @param dim dimension along which the norm is computed (default 1)
     * @param eps lower bound of the norm, to avoid division by zero (default 1e-12)
     * @return tensor of the same shape as {@code input}
     */
    public static Tensor normalize(Tensor input, double p, long dim, double eps) {
        return input.div(input.norm(p, dim, true).clampMin(eps).expandAs(input));
    }

    /**
     * Returns one-hot vectors of class indices.
     *
     * @param tensor class indices of dtype int64, of any shape
     * @param numClasses number of classes, or -1 for one more than the largest index
     * @return int64 tensor of shape {@code (*, numClasses)}
     */
    public static Tensor oneHot(Tensor tensor, long numClasses) {
        return Torch.oneHot(tensor, numClasses);
    }

    /**
     * Looks up rows of an embedding table.
     *
     * @param input indices into {@code weight}, of an integer dtype and any shape
     * @param weight embedding table of shape {@code (V, embedding_dim)}
     * @return tensor of shape {@code (*, embedding_dim)}
     */
    public static Tensor embedding(Tensor input, Tensor weight) {
        return embedding(input, weight, null, null, 2, false, false);
    }

    /**
     * Looks up rows of an embedding table.
     *
     * @param input indices into {@code weight}, of an integer dtype and any shape
     * @param weight embedding table of shape {@code (V, embedding_dim)}
     * @param paddingIdx index whose row gets no gradient, or null
     * @param maxNorm rows with a larger norm are renormalized in place to this norm; or null
     * @param normType degree of the norm for {@code maxNorm} (default 2)
     * @param scaleGradByFreq whether to divide gradients by the frequency of the index in {@code input} (default false)
     * @param sparse ignored: the gradient is always dense (default false)
     * @return tensor of shape {@code (*, embedding_dim)}
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
     * Computes the sum, mean or maximum of bags of embedding rows.
     *
     * @param input indices into {@code weight}: of shape {@code (B, N)} for bags of fixed length, or of shape {@code
     *     (N)} with {@code offsets}
     * @param weight embedding table of shape {@code (V, embedding_dim)}
     * @param offsets start of each bag in a 1D {@code input}, of shape {@code (B)}; null for a 2D {@code input}
     * @param options mode, maximum norm and the other options of {@link EmbeddingBag}
     * @param perSampleWeights weights of the shape of {@code input}, for the mode sum only; or null
     * @return tensor of shape {@code (B, embedding_dim)}
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
        return Torch.embeddingBag(weight, indices, begins, options.scaleGradByFreq, options.mode.ordinal(), options.sparse, factors,
            options.includeLastOffset, options.paddingIdx).result0();
    }

    /**
     * Pads a tensor.
     *
     * @param input tensor of any shape for {@link PadMode#CONSTANT}; for other modes of shape {@code (N, C, *)} or {@code (C,
     *     *)}
     * @param pad two sizes (before, after) per padded dimension, starting with the last dimension; negative sizes crop
     * @param mode which values to add
     * @param value fill value of {@link PadMode#CONSTANT}
     * @return the padded tensor
     */
    public static Tensor pad(Tensor input, long[] pad, PadMode mode, double value) {
        return Torch.pad(input, pad, mode.word, value == 0 ? null : Double.valueOf(value));
    }

    /**
     * Pads a tensor with zeros.
     *
     * @param input tensor of any shape
     * @param pad two sizes (before, after) per padded dimension, starting with the last dimension; negative sizes crop
     * @return the padded tensor
     */
    public static Tensor pad(Tensor input, long... pad) {
        return Torch.pad(input, pad);
    }

    /**
     * Rearranges channels into pixels, for a factor {@code r}.
     *
     * @param input tensor of shape {@code (*, C * r^2, H, W)}
     * @param upscaleFactor factor {@code r} of height and width
     * @return tensor of shape {@code (*, C, H * r, W * r)}
     */
    public static Tensor pixelShuffle(Tensor input, long upscaleFactor) {
        return Torch.pixelShuffle(input, upscaleFactor);
    }

    /**
     * Rearranges pixels into channels: the inverse of {@link #pixelShuffle}.
     *
     * @param input tensor of shape {@code (*, C, H * r, W * r)}
     * @param downscaleFactor divisor {@code r} of height and width
     * @return tensor of shape {@code (*, C * r^2, H, W)}
     */
    public static Tensor pixelUnshuffle(Tensor input, long downscaleFactor) {
        return Torch.pixelUnshuffle(input, downscaleFactor);
    }

    /**
     * Combines columns into images by summing overlapping blocks: the adjoint of {@link #unfold} (col2im).
     *
     * @param input columns of shape {@code (N, C * prod(kernelSize), L)} or {@code (C * prod(kernelSize), L)}
     * @param outputSize height and width of the output
     * @param kernelSize size of the sliding blocks, two numbers or a single one
     * @param dilation spacing between the elements of a block, two numbers or a single one (default 1)
     * @param padding implicit zeros on both sides, two numbers or a single one (default 0)
     * @param stride stride of the sliding blocks, two numbers or a single one (default 1)
     * @return tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     */
    public static Tensor fold(Tensor input, long[] outputSize, long[] kernelSize, long[] dilation, long[] padding, long[] stride) {
        return Torch.col2im(input, outputSize, kernelSize, dilation, padding, stride);
    }

    /**
     * Extracts sliding blocks of images as columns (im2col).
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (C, H, W)}
     * @param kernelSize size of the sliding blocks, two numbers or a single one
     * @param dilation spacing between the elements of a block, two numbers or a single one (default 1)
     * @param padding implicit zeros on both sides, two numbers or a single one (default 0)
     * @param stride stride of the sliding blocks, two numbers or a single one (default 1)
     * @return tensor of shape {@code (N, C * prod(kernelSize), L)} or {@code (C * prod(kernelSize), L)}
     */
    public static Tensor unfold(Tensor input, long[] kernelSize, long[] dilation, long[] padding, long[] stride) {
        return Torch.im2col(input, kernelSize, dilation, padding, stride);
    }

    /**
     * Generates a sampling grid for {@link #gridSample} from affine transformations.
     *
     * @param theta affine matrices of shape {@code (N, 2, 3)} for 2D or {@code (N, 3, 4)} for 3D
     * @param size size of the output image: {@code (N, C, H, W)} or {@code (N, C, D, H, W)}
     * @param alignCorners whether -1 and 1 refer to the centres of the corner pixels instead of the corners of the
     *     image (default false)
     * @return grid of shape {@code (N, H, W, 2)} or {@code (N, D, H, W, 3)}
     */
    public static Tensor affineGrid(Tensor theta, long[] size, boolean alignCorners) {
        return Torch.affineGridGenerator(theta, size, alignCorners);
    }

    /**
     * Samples the input at the positions of a grid.
     *
     * @param input tensor of shape {@code (N, C, H, W)} or {@code (N, C, D, H, W)}
     * @param grid positions, normalized to [-1, 1], in the order x, y(, z): shape {@code (N, H_out, W_out, 2)} or
     *     {@code (N, D_out, H_out, W_out, 3)}
     * @param mode interpolation
     * @param paddingMode values outside of the image
     * @param alignCorners whether -1 and 1 refer to the centres of the corner pixels instead of the corners of the
     *     image (default false)
     * @return tensor of shape {@code (N, C, H_out, W_out)} or {@code (N, C, D_out, H_out, W_out)}
     */
    public static Tensor gridSample(Tensor input, Tensor grid, GridSampleMode mode, GridSamplePadding paddingMode, boolean alignCorners) {
        return Torch.gridSampler(input, grid, mode.ordinal(), paddingMode.ordinal(), alignCorners);
    }

    /**
     * Resizes the spatial dimensions by nearest-neighbour, linear, cubic or area interpolation.
     *
     * @param input tensor of shape {@code (N, C, L)}, {@code (N, C, H, W)} or {@code (N, C, D, H, W)}
     * @param options size or scale factor, mode and the other options of {@link Upsample}
     * @return the resized tensor
     */
    public static Tensor interpolate(Tensor input, Upsample.Options options) {
        return Interpolation.of(input, options);
    }

    /**
     * Computes scaled dot-product attention: {@code softmax(query key^T scale + mask) value}.
     *
     * @param query tensor of shape {@code (N, ..., L, E)}
     * @param key tensor of shape {@code (N, ..., S, E)}
     * @param value tensor of shape {@code (N, ..., S, Ev)}
     * @param attnMask a boolean mask (true: takes part in attention), or a float tensor added to the scores, of a shape
     *     that broadcasts to {@code (N, ..., L, S)}; or null
     * @param dropoutP dropout probability of the attention weights; 0 for none
     * @param isCausal whether to apply a causal mask, with {@code attnMask} null (default false)
     * @param scale factor of the scores, or null for {@code 1 / sqrt(E)}
     * @return tensor of shape {@code (N, ..., L, Ev)}
     */
    public static Tensor scaledDotProductAttention(
            Tensor query, Tensor key, Tensor value, @Nullable Tensor attnMask, double dropoutP, boolean isCausal, @Nullable Double scale) {
        return Torch.scaledDotProductAttention(query, key, value, attnMask, dropoutP, isCausal, scale);
    }

    private static void renormaliseRows(Tensor weight, Tensor indices, double maxNorm, double normType) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            Torch.embeddingRenorm_(weight, indices, maxNorm, normType);
        }
    }
}
