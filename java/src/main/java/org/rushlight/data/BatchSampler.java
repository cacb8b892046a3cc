package org.rushlight.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Determines which examples form the batches of an epoch, as {@code torch.utils.data.BatchSampler} does.
 *
 * <pre>{@code
 * List<long[]> batches = BatchSampler.of(Sampler.sequential(), 3, false).batches(8);
 * System.out.println(Arrays.deepToString(batches.toArray())); // [[0, 1, 2], [3, 4, 5], [6, 7]]
 * }</pre>
 */
@FunctionalInterface
public interface BatchSampler {
    /**
     * Returns the batches of the next epoch.
     *
     * @param size number of examples
     * @return for each batch the indices of its examples
     */
    List<long[]> batches(long size);

    /**
     * Returns a batch sampler that splits the order of another sampler.
     *
     * @param sampler the order of the examples
     * @param batchSize number of examples per batch
     * @param dropLast whether to drop an incomplete last batch
     * @return the batch sampler
     * @throws IllegalArgumentException if the batch size is not positive
     */
    static BatchSampler of(Sampler sampler, int batchSize, boolean dropLast) {
        if (batchSize < 1) {
            throw new IllegalArgumentException("a batch has at least one example, not " + batchSize);
        }
        return size -> {
            long[] order = sampler.order(size);
            List<long[]> batches = new ArrayList<>();
            for (long start = 0; start + (dropLast ? batchSize : 1) <= order.length; start += batchSize) {
                batches.add(Arrays.copyOfRange(order, (int) start, (int) Math.min(order.length, start + batchSize)));
            }
            return batches;
        };
    }
}
