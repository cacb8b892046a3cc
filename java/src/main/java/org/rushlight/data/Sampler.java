package org.rushlight.data;

import java.util.Arrays;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Determines the order of the examples of an epoch. {@link RandomSampler}, {@link SubsetRandomSampler}, {@link
 * WeightedRandomSampler} and {@link DistributedSampler} are PyTorch's; any function of the number of examples is one,
 * too.
 *
 * <pre>{@code
 * Sampler backwards = size -> java.util.stream.LongStream.range(0, size).map(i -> size - 1 - i).toArray();
 * System.out.println(Arrays.toString(backwards.order(4))); // [3, 2, 1, 0]
 * }</pre>
 */
@FunctionalInterface
public interface Sampler {
    /**
     * Returns the order of the next epoch.
     *
     * @param size number of examples
     * @return indices of examples; some may be missing or repeated
     */
    long[] order(long size);

    /**
     * Returns a sampler for sequential order.
     *
     * @return the sampler
     */
    static Sampler sequential() {
        return size -> {
            long[] order = new long[Math.toIntExact(size)];
            Arrays.setAll(order, i -> i);
            return order;
        };
    }

    /**
     * Returns a sampler for random permutations from the default generator: the same seed gives the order of PyTorch's
     * C++ loader.
     *
     * @return the sampler
     */
    static Sampler random() {
        return size -> {
            try (Tensor order = Torch.randperm(size)) {
                return order.toLongArray();
            }
        };
    }
}
