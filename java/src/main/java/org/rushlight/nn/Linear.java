package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;

/**
 * Applies a linear transformation: {@code y = x W^T + b}, {@code (*, in_features) -> (*, out_features)}.
 *
 * <pre>{@code
 * try (Linear layer = new Linear(3, 2)) {
 *     System.out.println(Arrays.toString(layer.forward(Torch.ones(4, 3)).shape())); // [4, 2]
 * }
 * }</pre>
 */
public final class Linear extends Module {
    private final long inFeatures;
    private final long outFeatures;
    private final Tensor weight;
    private final @Nullable Tensor bias;

    /**
     * Creates the layer with a bias.
     *
     * @param inFeatures size of the last dimension of the input
     * @param outFeatures size of the last dimension of the output
     */
    public Linear(long inFeatures, long outFeatures) {
        this(inFeatures, outFeatures, true);
    }

    /**
     * Creates the layer with or without a bias, initialized as in PyTorch.
     *
     * @param inFeatures size of the last dimension of the input
     * @param outFeatures size of the last dimension of the output
     * @param bias whether to add a bias
     */
    public Linear(long inFeatures, long outFeatures, boolean bias) {
        this(inFeatures, outFeatures, bias, TensorOptions.DEFAULT);
    }

    /**
     * Creates the layer with the given dtype and device.
     *
     * @param inFeatures size of the last dimension of the input
     * @param outFeatures size of the last dimension of the output
     * @param bias whether to add a bias
     * @param options dtype and device of the parameters
     */
    public Linear(long inFeatures, long outFeatures, boolean bias, TensorOptions options) {
        this.inFeatures = inFeatures;
        this.outFeatures = outFeatures;
        weight = registerParameter("weight", Torch.empty(new long[] {outFeatures, inFeatures}, options));
        this.bias = bias ? registerParameter("bias", Torch.empty(new long[] {outFeatures}, options)) : null;
        resetParameters();
    }

    /** Resets weight and bias to newly sampled values. */
    public void resetParameters() {
        Init.kaimingUniform(weight, Math.sqrt(5));
        if (bias != null) {
            double bound = inFeatures > 0 ? 1 / Math.sqrt(inFeatures) : 0;
            Init.uniform(bias, -bound, bound);
        }
    }

    /**
     * Returns the weight, of shape {@code (out_features, in_features)}.
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
    public Tensor forward(Tensor input) {
        checkOpen();
        return Torch.linear(input, weight, bias);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("in_features", inFeatures).named("out_features", outFeatures).named("bias", bias != null).toString();
    }
}
