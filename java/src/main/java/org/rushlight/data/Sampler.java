package org.rushlight.data;

import java.util.Arrays;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Determines the order of the examples of an epoch.
 *
 * <pre>{@code
 * System.out.println(Arrays.toString(Sampler.distributed(Sampler.sequential(), 1, 2).order(5))); // [1, 3, 0]
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

    /**
     * Returns a sampler for every {@code count}-th example of another order, for one of several processes; all get
     * equally many examples, the last processes wrap around to the start.
     *
     * @param of the order, which must be the same in all processes
     * @param rank index of this process
     * @param count number of processes
     * @return the sampler
     */
    static Sampler distributed(Sampler of, int rank, int count) {
        if (rank < 0 || rank >= count) {
            throw new IllegalArgumentException("rank " + rank + " is not below the number of processes, " + count);
        }
        return size -> {
            long[] all = of.order(size);
            long[] mine = new long[(all.length + count - 1) / count];
            Arrays.setAll(mine, i -> all[(rank + i * count) % all.length]);
            return mine;
        };
    }
}
