package org.rushlight.data;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rushlight.CopiedOptions;
import org.rushlight.RushlightException;
import org.rushlight.Tensor;

/**
 * Loads a dataset in batches, one epoch per iterator. Workers prepare batches ahead; batches still arrive in order. If
 * a worker fails, {@code next} throws a {@link WorkerException}; without workers the original exception propagates.
 *
 * <p>A batch belongs to the loader and to no scope. It lives until the next one is fetched, or the loader begins
 * another epoch or is closed; its tensors, except those of the dataset, are then closed. A loop therefore needs a scope
 * for its own temporaries, but none for the batch. Share ({@link Tensor#share}) or copy a tensor to keep it longer.
 * Temporaries of workers are freed at once.
 *
 * <pre>{@code
 * try (TensorDataset points = new TensorDataset(Torch.rand(10, 2), Torch.zeros(10));
 *         DataLoader<Example, Example> loader = DataLoader.of(points, new DataLoader.Options(4).withShuffle(true).withWorkers(2))) {
 *     long seen = 0;
 *     for (Example batch : loader) {
 *         try (Scope step = new Scope()) {
 *             seen += batch.data().size(0);
 *         }
 *     }
 *     System.out.println(seen); // 10
 * }
 * }</pre>
 *
 * <p>Worker threads are daemons and end after being idle for some seconds. Neither {@link #close} nor another epoch
 * waits for the dataset: a worker that is preparing a batch finishes it and frees it. Its threads are not interrupted.
 *
 * <p>Transforms sample from one generator: with several workers the order of their random numbers is not deterministic.
 *
 * @param <E> the type of an example
 * @param <B> the type of a batch: a tensor, or arrays, collections, records or other objects with tensors in their
 *     fields
 */
public final class DataLoader<E, B> implements Iterable<B>, AutoCloseable {
    private static final String CLOSED = "the loader is closed";
    private static final String ANOTHER = "another epoch of the loader has begun";
    private static final AtomicInteger THREADS = new AtomicInteger();
    /** Seconds after which idle threads end. */
    private static final long IDLE_SECONDS = 2;

    private final Dataset<E> dataset;
    private final Function<? super List<E>, ? extends B> collate;
    private final Options options;
    private final @Nullable ExecutorService workers;
    /** Guarded by this loader. */
    private @Nullable Epoch open;
    /** Where the next iterator continues. Guarded by this loader. */
    private @Nullable LoaderState resumed;
    private volatile boolean closed;

    /** Options of a loader. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends CopiedOptions<Options> {
        private final int batchSize;
        private int workers;
        private int maxJobs;
        private @Nullable Duration timeout;
        private boolean enforceOrdering = true;
        private boolean dropLast;
        private Sampler sampler = Sampler.sequential();
        private @Nullable BatchSampler batchSampler;
        private @Nullable Consumer<Progress> listener;

        /**
         * Creates options for batches in the order of the dataset, prepared by the calling thread.
         *
         * @param batchSize number of examples per batch
         */
        public Options(int batchSize) {
            if (batchSize < 1) {
                throw new IllegalArgumentException("a batch has at least one example, not " + batchSize);
            }
            this.batchSize = batchSize;
        }

        /**
         * Creates options for batches that a batch sampler determines, prepared by the calling thread. It replaces the
         * batch size, the sampler, {@link #withShuffle} and {@link #withDropLast}.
         *
         * @param batchSampler the batch sampler
         */
        public Options(BatchSampler batchSampler) {
            batchSize = 0;
            this.batchSampler = batchSampler;
        }

        private void checkNoBatchSampler() {
            if (batchSampler != null) {
                throw new IllegalStateException("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last");
            }
        }

        /**
         * Sets the number of threads that prepare batches.
         *
         * @param value number of threads; 0 to prepare batches on the calling thread
         * @return the changed options
         * @throws IllegalArgumentException if it is negative
         */
        public Options withWorkers(int value) {
            if (value < 0) {
                throw new IllegalArgumentException("a loader has 0 workers or more, not " + value);
            }
            return with(options -> options.workers = value);
        }

        /**
         * Sets how many batches the workers prepare ahead.
         *
         * @param value number of batches; 0 for two per worker
         * @return the changed options
         * @throws IllegalArgumentException if it is negative
         */
        public Options withMaxJobs(int value) {
            if (value < 0) {
                throw new IllegalArgumentException("a loader prepares 0 batches ahead or more, not " + value);
            }
            return with(options -> options.maxJobs = value);
        }

        /**
         * Sets the maximum wait for a batch from workers. On timeout, {@code next} throws a {@link RushlightException}
         * and may be called again.
         *
         * @param value the maximum wait; unlimited by default
         * @return the changed options
         * @throws IllegalArgumentException if it is not positive
         */
        public Options withTimeout(Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException("a loader waits for some time, not for " + value);
            }
            return with(options -> options.timeout = value);
        }

        /**
         * Sets whether batches of several workers arrive in the order of the sampler.
         *
         * @param value whether to keep that order (the default), or to return batches as they become ready
         * @return the changed options
         */
        public Options withEnforceOrdering(boolean value) {
            return with(options -> options.enforceOrdering = value);
        }

        /**
         * Sets whether to drop an incomplete last batch.
         *
         * @param value whether to drop it
         * @return the changed options
         * @throws IllegalStateException if a batch sampler determines the batches
         */
        public Options withDropLast(boolean value) {
            checkNoBatchSampler();
            return with(options -> options.dropLast = value);
        }

        /**
         * Sets whether to shuffle the examples in every epoch.
         *
         * @param value whether to shuffle
         * @return the changed options
         * @throws IllegalStateException if a batch sampler determines the batches
         */
        public Options withShuffle(boolean value) {
            return withSampler(value ? Sampler.random() : Sampler.sequential());
        }

        /**
         * Sets the sampler.
         *
         * @param value the sampler
         * @return the changed options
         * @throws IllegalStateException if a batch sampler determines the batches
         */
        public Options withSampler(Sampler value) {
            checkNoBatchSampler();
            return with(options -> options.sampler = value);
        }

        /**
         * Sets a listener that is called for each batch, on the thread that fetches it.
         *
         * @param value the listener
         * @return the changed options
         */
        public Options withListener(Consumer<Progress> value) {
            return with(options -> options.listener = value);
        }

        List<long[]> batches(long size) {
            BatchSampler given = batchSampler;
            return (given == null ? BatchSampler.of(sampler, batchSize, dropLast) : given).batches(size);
        }
    }

    /**
     * Progress of an epoch.
     *
     * @param batch number of the current batch, starting at 1
     * @param batches number of batches of the epoch
     * @param examples number of examples fetched in this epoch
     * @param waitedNanos time spent waiting for the batch, in nanoseconds
     */
    public record Progress(long batch, long batches, long examples, long waitedNanos) {}

    private DataLoader(Dataset<E> dataset, Function<? super List<E>, ? extends B> collate, Options options) {
        this.dataset = dataset;
        this.collate = collate;
        this.options = options;
        workers = options.workers == 0 ? null : startWorkers(options.workers);
    }

    /** Threads that end when they are idle, so that an unclosed loader leaves none behind. */
    private static ExecutorService startWorkers(int count) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(count, count, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), job -> {
            Thread thread = new Thread(job, "rushlight-loader-" + THREADS.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /**
     * Creates a loader that stacks examples.
     *
     * @param dataset the examples; the caller keeps ownership
     * @param options the options
     * @return the loader
     */
    public static DataLoader<Example, Example> of(Dataset<Example> dataset, Options options) {
        return new DataLoader<>(dataset, Example::stack, options);
    }

    /**
     * Creates a loader with a custom batch type.
     *
     * @param dataset the examples; the caller keeps ownership
     * @param collate creates a batch from examples; several threads may call it
     * @param options the options
     * @param <E> the type of an example
     * @param <B> the type of a batch
     * @return the loader
     */
    public static <E, B> DataLoader<E, B> of(
            Dataset<E> dataset, Function<? super List<E>, ? extends B> collate, Options options) {
        return new DataLoader<>(dataset, collate, options);
    }

    /**
     * Returns the batches of the next epoch, or the rest of an epoch after {@link #loadStateDict}. A running epoch ends:
     * its iterator then throws {@link IllegalStateException}.
     */
    @Override
    public Iterator<B> iterator() {
        checkOpen();
        LoaderState start;
        synchronized (this) {
            endEpoch(ANOTHER);
            start = resumed;
            resumed = null;
        }
        Epoch epoch = new Epoch(start == null ? new LoaderState(0, 0, options.batches(dataset.size())) : start);
        synchronized (this) {
            // Another thread may have started an epoch or closed the loader.
            endEpoch(ANOTHER);
            open = epoch;
            if (closed) {
                endEpoch(CLOSED);
            }
        }
        checkOpen();
        return epoch;
    }

    /**
     * Returns the position in the running epoch: the batches that its iterator has not returned yet. Another loader of
     * the same dataset continues there, with the same batches in the same order. The state of generators is not part of
     * it: save that with {@link org.rushlight.Generator#getState}.
     *
     * <pre>{@code
     * try (TensorDataset points = new TensorDataset(Torch.arange(0, 6), Torch.zeros(6));
     *         DataLoader<Example, Example> loader = DataLoader.of(points, new DataLoader.Options(2))) {
     *     loader.iterator().next();
     *     Map<String, Tensor> position = loader.stateDict();
     *     System.out.println(position.get("indices")); // tensor([2, 3, 4, 5])
     *     loader.loadStateDict(position);
     *     System.out.println(loader.iterator().next().data()); // tensor([2, 3])
     * }
     * }</pre>
     *
     * @return tensors that belong to the innermost scope: {@code indices}, the examples of the remaining batches, {@code
     *     batch_sizes}, and the numbers {@code batches} and {@code examples} that were returned; without remaining
     *     batches if no epoch runs, or it has ended
     * @throws IllegalStateException if the loader is closed
     */
    public Map<String, Tensor> stateDict() {
        LoaderState state;
        synchronized (this) {
            checkOpen();
            state = resumed != null ? resumed : open != null ? open.state() : LoaderState.NONE;
        }
        return state.tensors();
    }

    /**
     * Restores a position: the next iterator returns the remaining batches, and those after it begin new epochs. A
     * running epoch ends.
     *
     * @param source a position returned by {@link #stateDict}
     * @throws IllegalArgumentException if it is no position of a loader, or an index is not one of an example; the loader
     *     then stays as it was
     * @throws IllegalStateException if the loader is closed
     */
    public void loadStateDict(Map<String, Tensor> source) {
        checkOpen();
        LoaderState state = LoaderState.of(source, dataset.size());
        synchronized (this) {
            checkOpen();
            endEpoch(ANOTHER);
            resumed = state.rest().isEmpty() ? null : state;
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException(CLOSED);
        }
    }

    private synchronized void endEpoch(String why) {
        if (open != null) {
            open.end(why);
            open = null;
        }
    }

    /** Ends the epoch and the workers, and closes the latest batch. The dataset stays open. */
    @Override
    public void close() {
        closed = true;
        endEpoch(CLOSED);
        if (workers != null) {
            workers.shutdown();
        }
    }

    private Prepared<B> prepare(int number, long[] indices) {
        return Prepared.of(number, indices.length, () -> {
            List<E> examples = new ArrayList<>(indices.length);
            for (long index : indices) {
                examples.add(dataset.get(index));
            }
            return collate.apply(examples);
        });
    }

    private final class Epoch implements Iterator<B> {
        private final LoaderState start;
        private final List<long[]> batches;
        /** The batches that were returned: with workers, not always the first ones. Guarded by the epoch. */
        private final BitSet returned = new BitSet();
        private final @Nullable BatchQueue<B> queue;
        private int begun;
        private int taken;
        private long examples;
        /** Ends the epoch after a failure. */
        private boolean failed;
        /** The reason why the loader has ended the epoch. Guarded by the epoch, as the batch is. */
        private @Nullable String ended;
        private @Nullable Prepared<B> lent;

        Epoch(LoaderState start) {
            this.start = start;
            batches = start.rest();
            examples = start.examples();
            queue = workers == null ? null : new BatchQueue<>(workers, options.enforceOrdering, options.timeout);
            if (queue != null) {
                fill(queue);
            }
        }

        synchronized LoaderState state() {
            List<long[]> rest = new ArrayList<>();
            for (int i = returned.nextClearBit(0); i < batches.size(); i = returned.nextClearBit(i + 1)) {
                rest.add(batches.get(i));
            }
            return rest.isEmpty() ? LoaderState.NONE : new LoaderState(start.batches() + taken, examples, rest);
        }

        @Override
        public boolean hasNext() {
            checkGoing();
            return !failed && taken < batches.size();
        }

        @Override
        public B next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            long begin = System.nanoTime();
            lend(null);
            Prepared<B> prepared = queue == null ? prepare(taken, batches.get(taken)) : await(queue);
            lend(prepared);
            if (queue != null) {
                fill(queue);
            }
            synchronized (this) {
                returned.set(prepared.number());
                taken++;
                examples += prepared.examples();
            }
            if (options.listener != null) {
                long before = start.batches();
                options.listener.accept(new Progress(before + taken, before + batches.size(), examples, System.nanoTime() - begin));
            }
            return prepared.batch();
        }

        private Prepared<B> await(BatchQueue<B> from) {
            try {
                Prepared<B> prepared = from.take();
                if (prepared == null) {
                    checkGoing();
                    throw new NoSuchElementException();
                }
                return prepared;
            } catch (InterruptedException e) {
                fail(from);
                Thread.currentThread().interrupt();
                throw new CancellationException("interrupted while waiting for a batch");
            } catch (WorkerException e) {
                fail(from);
                throw e;
            }
        }

        private void fail(BatchQueue<B> from) {
            failed = true;
            from.end();
        }

        /** Requests batches so that workers stay busy. */
        private void fill(BatchQueue<B> into) {
            long most = options.maxJobs == 0 ? 2L * options.workers : options.maxJobs;
            while (into.size() < most && begun < batches.size()) {
                int number = begun;
                try {
                    into.ask(() -> prepare(number, batches.get(number)));
                } catch (RejectedExecutionException e) {
                    throw new IllegalStateException(CLOSED, e); // It was closed meanwhile, on another thread.
                }
                begun++;
            }
        }

        /** Frees the previous batch and keeps the new one. */
        private synchronized void lend(@Nullable Prepared<B> prepared) {
            if (lent != null) {
                lent.free();
            }
            lent = prepared;
            if (prepared != null && ended != null) {
                end(ended);
                checkGoing();
            }
        }

        private synchronized void checkGoing() {
            if (ended != null) {
                throw new IllegalStateException(ended);
            }
        }

        synchronized void end(String why) {
            ended = why;
            if (lent != null) {
                lent.free();
                lent = null;
            }
            if (queue != null) {
                queue.end();
            }
        }
    }
}
