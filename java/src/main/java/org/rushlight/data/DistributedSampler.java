package org.rushlight.data;

import java.util.Arrays;
import org.rushlight.CopiedOptions;
import org.rushlight.Generator;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Samples every {@code numReplicas}-th example of an order that is the same in all processes: the order of {@code
 * torch.utils.data.distributed.DistributedSampler}. All processes get equally many examples: {@code ceil(size /
 * numReplicas)}, where examples of the start are repeated, or {@code floor(size / numReplicas)} with {@code
 * withDropLast(true)}.
 *
 * <pre>{@code
 * DistributedSampler sampler = new DistributedSampler(new DistributedSampler.Options(2, 1).withShuffle(false));
 * System.out.println(Arrays.toString(sampler.order(5))); // [1, 3, 0]
 * }</pre>
 *
 * <p>Call {@link #setEpoch} before each epoch: the order depends on the seed and the epoch alone.
 */
public final class DistributedSampler implements Sampler {
    private final Options options;
    private volatile long epoch;

    /** Options of {@link DistributedSampler}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends CopiedOptions<Options> {
        private final int numReplicas;
        private final int rank;
        private boolean shuffle = true;
        private long seed;
        private boolean dropLast;

        /**
         * Creates options with PyTorch's defaults: shuffled with seed 0, no example dropped.
         *
         * @param numReplicas number of processes
         * @param rank index of this process
         * @throws IllegalArgumentException if the rank is not from 0 to {@code numReplicas - 1}
         */
        public Options(int numReplicas, int rank) {
            if (rank < 0 || rank >= numReplicas) {
                throw new IllegalArgumentException("Invalid rank " + rank + ", rank should be in the interval [0, " + (numReplicas - 1) + "]");
            }
            this.numReplicas = numReplicas;
            this.rank = rank;
        }

        /**
         * Sets whether to shuffle the examples before they are distributed.
         *
         * @param value whether to shuffle (default true)
         * @return the changed options
         */
        public Options withShuffle(boolean value) {
            return with(options -> options.shuffle = value);
        }

        /**
         * Sets the seed, which must be the same in all processes.
         *
         * @param value the seed (default 0)
         * @return the changed options
         */
        public Options withSeed(long value) {
            return with(options -> options.seed = value);
        }

        /**
         * Sets whether to drop examples at the end that cannot be distributed evenly.
         *
         * @param value whether to drop them; otherwise examples of the start are repeated (default)
         * @return the changed options
         */
        public Options withDropLast(boolean value) {
            return with(options -> options.dropLast = value);
        }
    }

    /**
     * Creates a sampler with default options.
     *
     * @param numReplicas number of processes
     * @param rank index of this process
     * @throws IllegalArgumentException if the rank is not from 0 to {@code numReplicas - 1}
     */
    public DistributedSampler(int numReplicas, int rank) {
        this(new Options(numReplicas, rank));
    }

    /**
     * Creates a sampler with options.
     *
     * @param options the options
     */
    public DistributedSampler(Options options) {
        this.options = options;
    }

    /**
     * Sets the epoch, which changes the order if the examples are shuffled: its seed is the seed of the options plus
     * the epoch.
     *
     * @param epoch number of the epoch, the same in all processes
     */
    public void setEpoch(long epoch) {
        this.epoch = epoch;
    }

    @Override
    public long[] order(long size) {
        int replicas = options.numReplicas;
        int count = Math.toIntExact(options.dropLast ? size / replicas : (size + replicas - 1) / replicas);
        long[] all = all(size);
        long[] own = new long[count];
        // Indices past the end wrap around to the start.
        Arrays.setAll(own, i -> all[(int) ((options.rank + (long) i * replicas) % all.length)]);
        return own;
    }

    private long[] all(long size) {
        if (!options.shuffle) {
            return Sampler.sequential().order(size);
        }
        try (Generator generator = new Generator(options.seed + epoch); Tensor order = Torch.randperm(size, generator)) {
            return order.toLongArray();
        }
    }
}
