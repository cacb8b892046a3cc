package org.rushlight.nn;

import java.util.Objects;
import org.rushlight.NotImplementedException;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Implements {@link Functional#interpolate}. */
final class Interpolation {
    private Interpolation() {}

    static Tensor of(Tensor input, Upsample.Options options) {
        InterpolationMode mode = options.mode;
        boolean align = options.alignCorners != null && options.alignCorners;
        if (options.alignCorners != null && (mode == InterpolationMode.NEAREST || mode == InterpolationMode.NEAREST_EXACT || mode == InterpolationMode.AREA)) {
            throw new TensorValueException(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear");
        }
        int dim = input.dim();
        int needed = switch (mode) {
            case LINEAR -> 3;
            case BILINEAR -> 4;
            case TRILINEAR -> 5;
            default -> dim;
        };
        if (dim < 3 || dim > 5 || mode == InterpolationMode.BICUBIC && dim != 4) {
            throw new NotImplementedException("Input Error: Only 3D, 4D and 5D input Tensors supported (got " + dim
                + "D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got " + mode.word + ")");
        }
        if (needed != dim) {
            throw new NotImplementedException("Got " + dim + "D input, but " + mode.word + " mode needs " + needed + "D input");
        }
        long[] size = size(input, options);
        double[] factors = options.recomputeScaleFactor ? null : options.scaleFactor;
        Double[] scale = new Double[3];
        for (int i = 0; factors != null && i < 3; i++) {
            scale[i] = factors[Math.min(i, factors.length - 1)];
        }
        if (options.antialias) {
            if (dim != 4 || mode != InterpolationMode.BILINEAR && mode != InterpolationMode.BICUBIC) {
                throw new TensorValueException("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input");
            }
            return mode == InterpolationMode.BILINEAR
                ? Torch._upsampleBilinear2dAa(input, size, align, scale[0], scale[1])
                : Torch._upsampleBicubic2dAa(input, size, align, scale[0], scale[1]);
        }
        return switch (mode) {
            case LINEAR -> Torch.upsampleLinear1d(input, size, align, scale[0]);
            case BILINEAR -> Torch.upsampleBilinear2d(input, size, align, scale[0], scale[1]);
            case BICUBIC -> Torch.upsampleBicubic2d(input, size, align, scale[0], scale[1]);
            case TRILINEAR -> Torch.upsampleTrilinear3d(input, size, align, scale[0], scale[1], scale[2]);
            case NEAREST -> switch (dim) {
                case 3 -> Torch.upsampleNearest1d(input, size, scale[0]);
                case 4 -> Torch.upsampleNearest2d(input, size, scale[0], scale[1]);
                default -> Torch.upsampleNearest3d(input, size, scale[0], scale[1], scale[2]);
            };
            case AREA -> switch (dim) {
                case 3 -> Torch.adaptiveAvgPool1d(input, size);
                case 4 -> Torch.adaptiveAvgPool2d(input, size);
                default -> Torch.adaptiveAvgPool3d(input, size);
            };
            case NEAREST_EXACT -> switch (dim) {
                case 3 -> Torch._upsampleNearestExact1d(input, size, scale[0]);
                case 4 -> Torch._upsampleNearestExact2d(input, size, scale[0], scale[1]);
                default -> Torch._upsampleNearestExact3d(input, size, scale[0], scale[1], scale[2]);
            };
        };
    }

    /** Returns the output size, from a size or from scale factors. */
    private static long[] size(Tensor input, Upsample.Options options) {
        if (options.size == null == (options.scaleFactor == null)) {
            throw new TensorValueException(options.size == null
                ? "either size or scale_factor should be defined" : "only one of size or scale_factor should be defined");
        }
        int dims = input.dim() - 2;
        if (options.size != null) {
            return Sizes.expand("size", options.size, dims);
        }
        double[] factors = Objects.requireNonNull(options.scaleFactor);
        if (factors.length != 1 && factors.length != dims) {
            throw new TensorValueException("scale_factor shape must match input shape. Input is " + dims + "D, scale_factor size is "
                + Repr.text(factors));
        }
        long[] size = new long[dims];
        for (int i = 0; i < dims; i++) {
            size[i] = (long) Math.floor(input.size(i + 2) * factors[Math.min(i, factors.length - 1)]);
        }
        return size;
    }
}
