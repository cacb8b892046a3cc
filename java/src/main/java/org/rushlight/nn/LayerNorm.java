package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Applies layer normalization over the last dimensions.
 *
 * <pre>{@code
 * try (LayerNorm layer = new LayerNorm(8)) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.rand(4, 8)).shape())); // [4, 8]
 * }
 * }</pre>
 */
public final class LayerNorm extends Module {
    private final Options options;
    private final @Nullable Tensor weight;
    private final @Nullable Tensor bias;

    /** Options of {@link LayerNorm}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] normalizedShape;
        double eps = 1e-5;
        boolean elementwiseAffine = true;
        boolean bias = true;

        /**
         * Creates PyTorch's default options.
         *
         * @param normalizedShape sizes of the last dimensions, over which mean and variance are computed
         */
        public Options(long... normalizedShape) {
            this.normalizedShape = normalizedShape.clone();
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
         * Sets elementwiseAffine: whether to have a learnable weight and bias.
         *
         * @param value whether to have a learnable weight and bias
         * @return the changed options
         */
        public Options withElementwiseAffine(boolean value) {
            return with(options -> options.elementwiseAffine = value);
        }

        /**
         * Sets bias: whether to have a learnable bias in addition to the weight (default true).
         *
         * @param value whether to have a learnable bias in addition to the weight (default true)
         * @return the changed options
         */
        public Options withBias(boolean value) {
            return with(options -> options.bias = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param normalizedShape sizes of the last dimensions, over which mean and variance are computed
     */
    public LayerNorm(long... normalizedShape) {
        this(new Options(normalizedShape));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public LayerNorm(Options options) {
        this.options = options;
        weight = options.elementwiseAffine ? registerParameter("weight", Torch.ones(options.normalizedShape)) : null;
        bias = options.elementwiseAffine && options.bias ? registerParameter("bias", Torch.zeros(options.normalizedShape)) : null;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.layerNorm(input, options.normalizedShape, weight, bias, options.eps);
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
        return new Repr().add(options.normalizedShape).named("eps", options.eps).named("elementwise_affine", options.elementwiseAffine).toString();
    }
}
