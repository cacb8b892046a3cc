package org.rushlight.data;

import org.jspecify.annotations.Nullable;
import org.rushlight.Generator;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Samples given examples in random order, without replacement: the order of {@code
 * torch.utils.data.SubsetRandomSampler}.
 *
 * <pre>{@code
 * try (Generator generator = new Generator(0)) {
 *     Sampler sampler = new SubsetRandomSampler(new long[] {10, 20, 30}, generator);
 *     System.out.println(Arrays.toString(sampler.order(100))); // [30, 10, 20]
 * }
 * }</pre>
 */
public final class SubsetRandomSampler implements Sampler {
    private final long[] indices;
    private final @Nullable Generator generator;

    /**
     * Creates a sampler that uses the default generator.
     *
     * @param indices indices of examples
     */
    public SubsetRandomSampler(long... indices) {
        this(indices, null);
    }

    /**
     * Creates a sampler with a generator.
     *
     * @param indices indices of examples
     * @param generator the generator, which belongs to the caller; null for the default one
     */
    public SubsetRandomSampler(long[] indices, @Nullable Generator generator) {
        this.indices = indices.clone();
        this.generator = generator;
    }

    @Override
    public long[] order(long size) {
        try (Tensor order = Torch.randperm(indices.length, generator)) {
            long[] chosen = order.toLongArray();
            for (int i = 0; i < chosen.length; i++) {
                chosen[i] = indices[(int) chosen[i]];
            }
            return chosen;
        }
    }
}
