package org.rushlight.data;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
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
import org.rushlight.RushlightException;
import org.rushlight.Tensor;

/**
 * Batches of a dataset, one epoch for each iterator. Workers prepare batches ahead, which come in order all the same. What a worker throws
 * comes out of {@code next} as a {@link WorkerException}; without workers, as it is.
 *
 * <p>A batch belongs to the loader, and to no scope. It lives until the next one is taken, or the loader begins another epoch or is closed:
 * then its tensors are closed, but for those of the dataset. So a loop needs a scope for what it makes itself, and none for the batch; what
 * shall live longer is shared ({@link Tensor#share}) or copied. What workers make on the way is freed at once.
 *
 * <pre>{@code
 * TensorDataset points = new TensorDataset(Torch.randn(6, 2), Torch.zeros(6));
 * try (points; DataLoader<Example, Example> loader = DataLoader.of(points, new DataLoader.Options(4).withWorkers(1))) {
 *     for (Example batch : loader) {
 *         try (Scope scope = new Scope()) {
 *             total += batch.data().sum().item().doubleValue();
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>The threads of workers are daemons, and end when they have had nothing to do for some seconds. Neither {@link #close} nor another
 * epoch waits for a dataset: a worker that is preparing a batch then finishes it and frees it. Its threads are not interrupted.
 *
 * <p>Random numbers of transforms come from one generator: with several workers their order is not determined.
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
 * @param <E> an example
 * @param <B> a batch: a tensor, or arrays, collections, records or other objects with tensors in their fields
 */
public final class DataLoader<E, B> implements Iterable<B>, AutoCloseable {
    private static final String CLOSED = "the loader is closed";
    private static final String ANOTHER = "another epoch of the loader has begun";
    private static final AtomicInteger THREADS = new AtomicInteger();
    /** After how many seconds threads without work end. */
    private static final long IDLE_SECONDS = 2;

    private final Dataset<E> dataset;
    private final Function<? super List<E>, ? extends B> collate;
    private final Options options;
    private final @Nullable ExecutorService workers;
    /** Guarded by this loader. */
    private @Nullable Epoch open;
    private volatile boolean closed;

    /** What a loader does. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options implements Cloneable {
        private final int batchSize;
        private int workers;
        private int maxJobs;
        private @Nullable Duration timeout;
        private boolean enforceOrdering = true;
        private boolean dropLast;
        private Sampler sampler = Sampler.sequential();
        private @Nullable Consumer<Progress> listener;

        /**
         * Batches in the order of the dataset, prepared by the thread that takes them.
         *
         * @param batchSize examples of a batch
         */
        public Options(int batchSize) {
            if (batchSize < 1) {
                throw new IllegalArgumentException("a batch has at least one example, not " + batchSize);
            }
            this.batchSize = batchSize;
        }

        private Options with(Consumer<Options> change) {
            try {
                Options copy = (Options) clone();
                change.accept(copy);
                return copy;
            } catch (CloneNotSupportedException e) {
                throw new AssertionError("options can be copied", e);
            }
        }

        /**
         * Sets the number of threads that prepare batches.
         *
         * @param value number of threads; 0 for the one that takes the batches
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
         * Sets how many batches are prepared ahead by workers.
         *
         * @param value number of batches; 0 for two for each worker
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
         * Sets how long a batch of workers is waited for. When it takes longer, {@code next} throws a {@link RushlightException}, and may be
         * called again.
         *
         * @param value the time; if it is not set, as long as it takes
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
         * Sets whether the batches of several workers come in the order of the sampler.
         *
         * @param value in that order, as at first; or each as soon as it is ready
         * @return the changed options
         */
        public Options withEnforceOrdering(boolean value) {
            return with(options -> options.enforceOrdering = value);
        }

        /**
         * Sets whether a last batch that is too small is left out.
         *
         * @param value leave it out
         * @return the changed options
         */
        public Options withDropLast(boolean value) {
            return with(options -> options.dropLast = value);
        }

        /**
         * Sets whether each epoch has an order of its own.
         *
         * @param value shuffle, or keep the order of the dataset
         * @return the changed options
         */
        public Options withShuffle(boolean value) {
            return withSampler(value ? Sampler.random() : Sampler.sequential());
        }

        /**
         * Sets who decides on the order.
         *
         * @param value the sampler
         * @return the changed options
         */
        public Options withSampler(Sampler value) {
            return with(options -> options.sampler = value);
        }

        /**
         * Sets who hears of each batch that is taken, on the thread that takes it.
         *
         * @param value the listener
         * @return the changed options
         */
        public Options withListener(Consumer<Progress> value) {
            return with(options -> options.listener = value);
        }
    }

    /**
     * How far an epoch is.
     *
     * @param batch number of the batch that was taken, from 1 on
     * @param batches batches of the epoch
     * @param examples examples that were taken in this epoch
     * @param waitedNanos how long the batch was waited for, in nanoseconds
     */
    public record Progress(long batch, long batches, long examples, long waitedNanos) {}

    private DataLoader(Dataset<E> dataset, Function<? super List<E>, ? extends B> collate, Options options) {
        this.dataset = dataset;
        this.collate = collate;
        this.options = options;
        workers = options.workers == 0 ? null : startWorkers(options.workers);
    }

    /** Threads that end when they are idle: a loader that nobody closes leaves none behind. */
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
     * A loader of stacked examples.
     *
     * @param dataset the examples, which stay the caller's
     * @param options what it does
     * @return the loader
     */
    public static DataLoader<Example, Example> of(Dataset<Example> dataset, Options options) {
        return new DataLoader<>(dataset, Example::stack, options);
    }

    /**
     * A loader with batches of its own.
     *
     * @param dataset the examples, which stay the caller's
     * @param collate makes a batch of examples; several threads may call it
     * @param options what it does
     * @param <E> an example
     * @param <B> a batch
     * @return the loader
     */
    public static <E, B> DataLoader<E, B> of(
            Dataset<E> dataset, Function<? super List<E>, ? extends B> collate, Options options) {
        return new DataLoader<>(dataset, collate, options);
    }

    /** The batches of the next epoch. An epoch that is still going on ends: its iterator throws {@link IllegalStateException} from now on. */
    @Override
    public Iterator<B> iterator() {
        checkOpen();
        endEpoch(ANOTHER);
        Epoch epoch = new Epoch(options.sampler.order(dataset.size()));
        synchronized (this) {
            // On another thread one may have begun, or the loader may have been closed.
            endEpoch(ANOTHER);
            open = epoch;
            if (closed) {
                endEpoch(CLOSED);
            }
        }
        checkOpen();
        return epoch;
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

    /** Ends the epoch and the workers, and closes the batch that was taken last. The dataset stays open. */
    @Override
    public void close() {
        closed = true;
        endEpoch(CLOSED);
        if (workers != null) {
            workers.shutdown();
        }
    }

    private Prepared<B> prepare(long[] indices) {
        return Prepared.of(indices.length, () -> {
            List<E> examples = new ArrayList<>(indices.length);
            for (long index : indices) {
                examples.add(dataset.get(index));
            }
            return collate.apply(examples);
        });
    }

    private final class Epoch implements Iterator<B> {
        private final long[] order;
        private final long batches;
        private final @Nullable BatchQueue<B> queue;
        private long begun;
        private long taken;
        private long examples;
        /** A failure has ended the epoch. */
        private boolean failed;
        /** Why the loader has ended it. Guarded by the epoch, as the batch is. */
        private @Nullable String ended;
        private @Nullable Prepared<B> lent;

        Epoch(long[] order) {
            this.order = order;
            long size = options.batchSize;
            batches = options.dropLast ? order.length / size : (order.length + size - 1) / size;
            queue = workers == null ? null : new BatchQueue<>(workers, options.enforceOrdering, options.timeout);
            if (queue != null) {
                fill(queue);
            }
        }

        private long[] indices(long batch) {
            long start = batch * options.batchSize;
            return Arrays.copyOfRange(order, (int) start, (int) Math.min(order.length, start + options.batchSize));
        }

        @Override
        public boolean hasNext() {
            checkGoing();
            return !failed && taken < batches;
        }

        @Override
        public B next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            long start = System.nanoTime();
            lend(null);
            Prepared<B> prepared = queue == null ? prepare(indices(taken)) : await(queue);
            lend(prepared);
            if (queue != null) {
                fill(queue);
            }
            taken++;
            examples += prepared.examples();
            if (options.listener != null) {
                options.listener.accept(new Progress(taken, batches, examples, System.nanoTime() - start));
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

        /** Keeps workers busy. */
        private void fill(BatchQueue<B> into) {
            long most = options.maxJobs == 0 ? 2L * options.workers : options.maxJobs;
            while (into.size() < most && begun < batches) {
                long[] indices = indices(begun);
                try {
                    into.ask(() -> prepare(indices));
                } catch (RejectedExecutionException e) {
                    throw new IllegalStateException(CLOSED, e); // It was closed meanwhile, on another thread.
                }
                begun++;
            }
        }

        /** Frees the batch that was taken before, and keeps the one that is taken now. */
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
