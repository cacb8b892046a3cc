package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * {@code y = x1^T W[k] x2 + b[k]} for each k.
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

    /** What a Bilinear does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long in1Features;
        final long in2Features;
        final long outFeatures;
        boolean bias = true;

        /**
         * The defaults of PyTorch.
         *
         * @param in1Features size of the first input
         * @param in2Features size of the second input
         * @param outFeatures size of the output
         */
        public Options(long in1Features, long in2Features, long outFeatures) {
            this.in1Features = in1Features;
            this.in2Features = in2Features;
            this.outFeatures = outFeatures;
        }

        /**
         * Sets bias: add a bias.
         *
         * @param value add a bias
         * @return the changed options
         */
        public Options withBias(boolean value) {
            return with(options -> options.bias = value);
        }
    }

    /**
     * The layer with the defaults.
     *
     * @param in1Features size of the first input
     * @param in2Features size of the second input
     * @param outFeatures size of the output
     */
    public Bilinear(long in1Features, long in2Features, long outFeatures) {
        this(new Options(in1Features, in2Features, outFeatures));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
     * Computes the map.
     *
     * @param input1 {@code (*, in1)}
     * @param input2 {@code (*, in2)}
     * @return {@code (*, out)}
     */
    public Tensor forward(Tensor input1, Tensor input2) {
        checkOpen();
        return Functional.bilinear(input1, input2, weight, bias);
    }

    /**
     * The weight, {@code (out, in1, in2)}.
     *
     * @return the parameter
     */
    public Tensor weight() {
        return weight;
    }

    /**
     * The bias, {@code (out)}.
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
