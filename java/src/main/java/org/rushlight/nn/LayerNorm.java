package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Normalises the last dimensions together.
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

    /** What a LayerNorm does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long[] normalizedShape;
        double eps = 1e-5;
        boolean elementwiseAffine = true;
        boolean bias = true;

        /**
         * The defaults of PyTorch.
         *
         * @param normalizedShape the last dimensions
         */
        public Options(long... normalizedShape) {
            this.normalizedShape = normalizedShape.clone();
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
         * Sets elementwiseAffine: learn a weight and a bias.
         *
         * @param value learn a weight and a bias
         * @return the changed options
         */
        public Options withElementwiseAffine(boolean value) {
            return with(options -> options.elementwiseAffine = value);
        }

        /**
         * Sets bias: learn a bias, too.
         *
         * @param value learn a bias, too
         * @return the changed options
         */
        public Options withBias(boolean value) {
            return with(options -> options.bias = value);
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param normalizedShape the last dimensions
     */
    public LayerNorm(long... normalizedShape) {
        this(new Options(normalizedShape));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
        return new Repr().add(options.normalizedShape).named("eps", options.eps).named("elementwise_affine", options.elementwiseAffine).toString();
    }
}
