package org.rushlight.data;

import java.util.Arrays;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Decides on the order of the examples of an epoch.
 *
 * <pre>{@code
 * System.out.println(Arrays.toString(Sampler.distributed(Sampler.sequential(), 1, 2).order(5))); // [1, 3, 0]
 * }</pre>
 */
@FunctionalInterface
public interface Sampler {
    /**
     * The order of the next epoch.
     *
     * @param size number of examples
     * @return numbers of examples; not all need to be there, and some may be there twice
     */
    long[] order(long size);

    /**
     * One after the other.
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
     * A permutation from the default generator of random numbers: the same seed gives the order of PyTorch's C++ loader.
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
     * Every {@code count}-th example of another order, for one of several processes; all get equally many, the last ones start again from
     * the front.
     *
     * @param of the order, which must be the same in all processes
     * @param rank number of this process
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
