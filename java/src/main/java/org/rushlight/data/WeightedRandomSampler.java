package org.rushlight.data;

import org.jspecify.annotations.Nullable;
import org.rushlight.Generator;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Samples examples with given weights, which need not add up to one: the order of {@code
 * torch.utils.data.WeightedRandomSampler}. Example {@code i} has the probability {@code weights[i] / sum(weights)}.
 *
 * <pre>{@code
 * try (Generator generator = new Generator(0)) {
 *     Sampler sampler = new WeightedRandomSampler(new double[] {0.1, 0.9, 0.4, 0.7, 3, 0.6}, 5, true, generator);
 *     System.out.println(Arrays.toString(sampler.order(6))); // [5, 4, 4, 5, 4]
 * }
 * }</pre>
 */
public final class WeightedRandomSampler implements Sampler {
    private final double[] weights;
    private final long numSamples;
    private final boolean replacement;
    private final @Nullable Generator generator;

    /**
     * Creates a sampler with replacement that uses the default generator.
     *
     * @param weights weight of each example
     * @param numSamples number of indices of an epoch
     * @throws IllegalArgumentException if {@code numSamples} is not positive
     */
    public WeightedRandomSampler(double[] weights, long numSamples) {
        this(weights, numSamples, true, null);
    }

    /**
     * Creates a sampler.
     *
     * @param weights weight of each example
     * @param numSamples number of indices of an epoch
     * @param replacement whether an example may be sampled again
     * @param generator the generator, which belongs to the caller; null for the default one
     * @throws IllegalArgumentException if {@code numSamples} is not positive
     */
    public WeightedRandomSampler(double[] weights, long numSamples, boolean replacement, @Nullable Generator generator) {
        if (numSamples <= 0) {
            throw new IllegalArgumentException("num_samples should be a positive integer value, but got num_samples=" + numSamples);
        }
        this.weights = weights.clone();
        this.numSamples = numSamples;
        this.replacement = replacement;
        this.generator = generator;
    }

    /**
     * {@inheritDoc}
     *
     * @throws org.rushlight.RushlightException if a weight is negative, infinite or NaN, if all are 0, or if an epoch
     *     without replacement has more indices than there are weights
     */
    @Override
    public long[] order(long size) {
        try (Tensor given = Tensor.of(weights); Tensor order = given.multinomial(numSamples, replacement, generator)) {
            return order.toLongArray();
        }
    }
}
