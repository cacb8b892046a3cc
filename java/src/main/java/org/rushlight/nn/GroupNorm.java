package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Normalises groups of channels.
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

    /** What a GroupNorm does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long numGroups;
        final long numChannels;
        double eps = 1e-5;
        boolean affine = true;

        /**
         * The defaults of PyTorch.
         *
         * @param numGroups groups of channels
         * @param numChannels channels
         */
        public Options(long numGroups, long numChannels) {
            this.numGroups = numGroups;
            this.numChannels = numChannels;
        }

        /**
         * Sets eps: added to the variance.
         *
         * @param value added to the variance
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets affine: learn a weight and a bias.
         *
         * @param value learn a weight and a bias
         * @return the changed options
         */
        public Options withAffine(boolean value) {
            return with(options -> options.affine = value);
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param numGroups groups of channels
     * @param numChannels channels
     */
    public GroupNorm(long numGroups, long numChannels) {
        this(new Options(numGroups, numChannels));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
     * The weight.
     *
     * @return the parameter, or null
     */
    public @Nullable Tensor weight() {
        return weight;
    }

    /**
     * The bias.
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
