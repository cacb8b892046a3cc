package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Applies group normalization.
 *
 * <pre>{@code
 * try (GroupNorm layer = new GroupNorm(2, 6)) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.rand(4, 6, 8)).shape())); // [4, 6, 8]
 * }
 * }</pre>
 */
public final class GroupNorm extends Module {
    private final Options options;
    private final @Nullable Tensor weight;
    private final @Nullable Tensor bias;

    /** Options of {@link GroupNorm}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long numGroups;
        final long numChannels;
        double eps = 1e-5;
        boolean affine = true;

        /**
         * Creates PyTorch's default options.
         *
         * @param numGroups number of groups into which the channels are divided
         * @param numChannels number of channels
         */
        public Options(long numGroups, long numChannels) {
            this.numGroups = numGroups;
            this.numChannels = numChannels;
        }

        /**
         * Sets eps: term added to the variance for numerical stability (default 1e-5).
         *
         * @param value term added to the variance for numerical stability (default 1e-5)
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets affine: whether to have a learnable weight and bias.
         *
         * @param value whether to have a learnable weight and bias
         * @return the changed options
         */
        public Options withAffine(boolean value) {
            return with(options -> options.affine = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param numGroups number of groups into which the channels are divided
     * @param numChannels number of channels
     */
    public GroupNorm(long numGroups, long numChannels) {
        this(new Options(numGroups, numChannels));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public GroupNorm(Options options) {
        this.options = options;
        weight = options.affine ? registerParameter("weight", Torch.ones(options.numChannels)) : null;
        bias = options.affine ? registerParameter("bias", Torch.zeros(options.numChannels)) : null;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.groupNorm(input, options.numGroups, weight, bias, options.eps);
    }

    /**
     * Returns the weight.
     *
     * @return the parameter, or null
     */
    public @Nullable Tensor weight() {
        return weight;
    }

    /**
     * Returns the bias.
     *
     * @return the parameter, or null
     */
    public @Nullable Tensor bias() {
        return bias;
    }

    @Override
    protected String extraRepr() {
        return new Repr().add(options.numGroups).add(options.numChannels).named("eps", options.eps).named("affine", options.affine).toString();
    }
}
