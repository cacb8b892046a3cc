package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Resizes the spatial dimensions by nearest-neighbour, linear, cubic or area interpolation.
 *
 * <pre>{@code
 * Upsample twice = new Upsample(new Upsample.Options().withScaleFactor(2).withMode(InterpolationMode.BILINEAR).withAlignCorners(false));
 * System.out.println(Arrays.toString(twice.forward(Torch.ones(1, 3, 4, 4)).shape())); // [1, 3, 8, 8]
 * }</pre>
 */
public final class Upsample extends Module {
    private final Options options;

    /** Options of {@link Upsample}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long @Nullable [] size;
        double @Nullable [] scaleFactor;
        InterpolationMode mode = InterpolationMode.NEAREST;
        @Nullable Boolean alignCorners;
        boolean recomputeScaleFactor = false;
        boolean antialias = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets size: size of the output, one number or one per dimension.
         *
         * @param value size of the output, one number or one per dimension
         * @return the changed options
         */
        public Options withSize(long... value) {
            return with(options -> options.size = value.clone());
        }

        /**
         * Sets scaleFactor: scale factor of each dimension, or one for all.
         *
         * @param value scale factor of each dimension, or one for all
         * @return the changed options
         */
        public Options withScaleFactor(double... value) {
            return with(options -> options.scaleFactor = value.clone());
        }

        /**
         * Sets mode: the algorithm (default {@code NEAREST}).
         *
         * @param value the algorithm (default {@code NEAREST})
         * @return the changed options
         */
        public Options withMode(InterpolationMode value) {
            return with(options -> options.mode = value);
        }

        /**
         * Sets alignCorners: whether to align the centres of the corner pixels of input and output.
         *
         * @param value whether to align the centres of the corner pixels of input and output
         * @return the changed options
         */
        public Options withAlignCorners(boolean value) {
            return with(options -> options.alignCorners = value);
        }

        /**
         * Sets recomputeScaleFactor: whether to recompute the scale factor from the sizes.
         *
         * @param value whether to recompute the scale factor from the sizes
         * @return the changed options
         */
        public Options withRecomputeScaleFactor(boolean value) {
            return with(options -> options.recomputeScaleFactor = value);
        }

        /**
         * Sets antialias: whether to smooth when downsampling, for bilinear and bicubic (default false).
         *
         * @param value whether to smooth when downsampling, for bilinear and bicubic (default false)
         * @return the changed options
         */
        public Options withAntialias(boolean value) {
            return with(options -> options.antialias = value);
        }
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Upsample(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.interpolate(input, options);
    }

    @Override
    protected String extraRepr() {
        return (options.scaleFactor != null
            ? new Repr().named("scale_factor", options.scaleFactor.length == 1 ? (Object) options.scaleFactor[0] : options.scaleFactor)
            : new Repr().named("size", options.size == null ? null : options.size.length == 1 ? (Object) options.size[0] : options.size))
            .named("mode", "'" + options.mode.word + "'").toString();
    }
}
