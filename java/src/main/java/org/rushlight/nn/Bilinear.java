package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Applies a bilinear transformation: {@code y[k] = x1^T W[k] x2 + b[k]}.
 *
 * <pre>{@code
 * try (Bilinear layer = new Bilinear(3, 4, 2)) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(5, 3), Torch.ones(5, 4)).shape())); // [5, 2]
 * }
 * }</pre>
 */
public final class Bilinear extends Module {
    private final Options options;
    private final Tensor weight;
    private final @Nullable Tensor bias;

    /** Options of {@link Bilinear}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long in1Features;
        final long in2Features;
        final long outFeatures;
        boolean bias = true;

        /**
         * Creates PyTorch's default options.
         *
         * @param in1Features size of the last dimension of the first input
         * @param in2Features size of the last dimension of the second input
         * @param outFeatures size of the last dimension of the output
         */
        public Options(long in1Features, long in2Features, long outFeatures) {
            this.in1Features = in1Features;
            this.in2Features = in2Features;
            this.outFeatures = outFeatures;
        }

        /**
         * Sets bias: whether to add a bias (default true).
         *
         * @param value whether to add a bias (default true)
         * @return the changed options
         */
        public Options withBias(boolean value) {
            return with(options -> options.bias = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param in1Features size of the last dimension of the first input
     * @param in2Features size of the last dimension of the second input
     * @param outFeatures size of the last dimension of the output
     */
    public Bilinear(long in1Features, long in2Features, long outFeatures) {
        this(new Options(in1Features, in2Features, outFeatures));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Bilinear(Options options) {
        this.options = options;
        weight = registerParameter("weight", Torch.empty(options.outFeatures, options.in1Features, options.in2Features));
        bias = options.bias ? registerParameter("bias", Torch.empty(options.outFeatures)) : null;
        double bound = 1 / Math.sqrt(options.in1Features);
        Init.uniform(weight, -bound, bound);
        if (bias != null) {
            Init.uniform(bias, -bound, bound);
        }
    }

    /**
     * Applies the transformation.
     *
     * @param input1 tensor of shape {@code (*, in1_features)}
     * @param input2 tensor of shape {@code (*, in2_features)}
     * @return tensor of shape {@code (*, out_features)}
     */
    public Tensor forward(Tensor input1, Tensor input2) {
        checkOpen();
        return Functional.bilinear(input1, input2, weight, bias);
    }

    /**
     * Returns the weight, of shape {@code (out_features, in1_features, in2_features)}.
     *
     * @return the parameter
     */
    public Tensor weight() {
        return weight;
    }

    /**
     * Returns the bias, of shape {@code (out_features)}.
     *
     * @return the parameter, or null
     */
    public @Nullable Tensor bias() {
        return bias;
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("in1_features", options.in1Features).named("in2_features", options.in2Features)
            .named("out_features", options.outFeatures).named("bias", options.bias).toString();
    }
}
