package org.rushlight.data;

import org.jspecify.annotations.Nullable;
import org.rushlight.CopiedOptions;
import org.rushlight.DType;
import org.rushlight.Generator;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;

/**
 * Samples examples in random order, with or without replacement: the order of {@code torch.utils.data.RandomSampler}.
 *
 * <pre>{@code
 * try (Generator generator = new Generator(0)) {
 *     Sampler sampler = new RandomSampler(new RandomSampler.Options().withGenerator(generator));
 *     System.out.println(Arrays.toString(sampler.order(5))); // [4, 0, 1, 3, 2]
 * }
 * }</pre>
 *
 * <p>Without a generator, each epoch seeds a new one with a number from the default generator. {@link Sampler#random}
 * uses the default generator itself, as PyTorch's C++ sampler does.
 */
public final class RandomSampler implements Sampler {
    /** Number of indices that PyTorch samples at once with replacement. */
    private static final int CHUNK = 32;

    private final Options options;

    /** Options of {@link RandomSampler}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends CopiedOptions<Options> {
        private boolean replacement;
        private long numSamples = -1;
        private @Nullable Generator generator;

        /** Creates PyTorch's default options: every example once, without a generator. */
        public Options() {}

        /**
         * Sets whether an example may be sampled again.
         *
         * @param value whether to sample with replacement (default false)
         * @return the changed options
         */
        public Options withReplacement(boolean value) {
            return with(options -> options.replacement = value);
        }

        /**
         * Sets the number of indices of an epoch.
         *
         * @param value number of indices (default: that of examples); without replacement, permutations follow one
         *     another
         * @return the changed options
         * @throws IllegalArgumentException if it is not positive
         */
        public Options withNumSamples(long value) {
            if (value <= 0) {
                throw new IllegalArgumentException("num_samples should be a positive integer value, but got num_samples=" + value);
            }
            return with(options -> options.numSamples = value);
        }

        /**
         * Sets the generator.
         *
         * @param value the generator, which belongs to the caller
         * @return the changed options
         */
        public Options withGenerator(Generator value) {
            return with(options -> options.generator = value);
        }
    }

    /** Creates a sampler with default options. */
    public RandomSampler() {
        this(new Options());
    }

    /**
     * Creates a sampler with options.
     *
     * @param options the options
     */
    public RandomSampler(Options options) {
        this.options = options;
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if the generator is closed
     */
    @Override
    public long[] order(long size) {
        if (options.generator != null) {
            return order(size, options.generator);
        }
        try (Tensor seed = Torch.empty(new long[0], TensorOptions.of(DType.INT64)).random_();
                Generator generator = new Generator(seed.item().longValue())) {
            return order(size, generator);
        }
    }

    private long[] order(long size, Generator generator) {
        if (size == 0) {
            return new long[0];
        }
        long[] order = new long[Math.toIntExact(options.numSamples < 0 ? size : options.numSamples)];
        int chunk = Math.toIntExact(options.replacement ? CHUNK : size);
        // As in PyTorch, a last permutation is sampled even if none of it is needed: it advances the generator.
        for (int at = 0, count = chunk; count == chunk; at += count) {
            count = Math.min(chunk, order.length - at);
            try (Tensor part = options.replacement
                    ? Torch.randint(size, new long[] {count}, generator, TensorOptions.of(DType.INT64))
                    : Torch.randperm(size, generator)) {
                System.arraycopy(part.toLongArray(), 0, order, at, count);
            }
        }
        return order;
    }
}
