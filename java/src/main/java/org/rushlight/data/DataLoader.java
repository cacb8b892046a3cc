package org.rushlight.data;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/**
 * Batches of a dataset, one epoch for each iterator. Workers prepare batches ahead, which come in order all the same. The tensors of a
 * batch join the innermost scope of the thread that takes it; what workers make on the way is freed. What a worker throws comes out of
 * {@code next} as a {@link WorkerException}; without workers, as it is.
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
 * @param <B> a batch: a tensor, or arrays, collections and records of tensors
 */
public final class DataLoader<E, B> implements Iterable<B>, AutoCloseable {
    private static final AtomicInteger THREADS = new AtomicInteger();

    private final Dataset<E> dataset;
    private final Function<? super List<E>, ? extends B> collate;
    private final Options options;
    private final @Nullable ExecutorService workers;
    private @Nullable Epoch open;
    private boolean closed;

    /** What a loader does. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options implements Cloneable {
        private final int batchSize;
        private int workers;
        private int maxJobs;
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
         */
        public Options withWorkers(int value) {
            return with(options -> options.workers = value);
        }

        /**
         * Sets how many batches are prepared ahead.
         *
         * @param value number of batches; 0 for two for each worker
         * @return the changed options
         */
        public Options withMaxJobs(int value) {
            return with(options -> options.maxJobs = value);
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
        workers = options.workers == 0 ? null : Executors.newFixedThreadPool(options.workers, job -> {
            Thread thread = new Thread(job, "rushlight-loader-" + THREADS.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
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

    /** The batches of the next epoch. An epoch that is still going on ends. */
    @Override
    public Iterator<B> iterator() {
        if (closed) {
            throw new IllegalStateException("the loader is closed");
        }
        endEpoch();
        Epoch epoch = new Epoch(options.sampler.order(dataset.size()));
        open = epoch;
        return epoch;
    }

    private void endEpoch() {
        if (open != null) {
            open.end();
            open = null;
        }
    }

    /** Ends the epoch and the workers. The dataset stays open. */
    @Override
    public void close() {
        closed = true;
        endEpoch();
        if (workers != null) {
            workers.shutdown();
        }
    }

    /**
     * A batch, and those of its tensors that were made for it. They belong to no scope; others are the dataset's.
     *
     * @param batch the batch
     * @param made the tensors
     */
    private record Prepared<B>(B batch, List<Tensor> made) {}

    private Prepared<B> prepare(long[] indices) {
        try (Scope scope = new Scope()) {
            List<E> examples = new ArrayList<>(indices.length);
            for (long index : indices) {
                examples.add(dataset.get(index));
            }
            B batch = collate.apply(examples);
            List<Tensor> made = new ArrayList<>();
            TensorTree.forEach(batch, tensor -> {
                if (scope.contains(tensor)) {
                    made.add(tensor.unscoped());
                }
            });
            return new Prepared<>(batch, made);
        }
    }

    private final class Epoch implements Iterator<B> {
        private final long[] order;
        private final int batches;
        private final Deque<Job> jobs = new ArrayDeque<>();
        private int begun;
        private int taken;
        private boolean ended;

        Epoch(long[] order) {
            this.order = order;
            int size = options.batchSize;
            batches = options.dropLast ? order.length / size : (order.length + size - 1) / size;
            fill();
        }

        private long[] indices(int batch) {
            int start = batch * options.batchSize;
            return Arrays.copyOfRange(order, start, Math.min(order.length, start + options.batchSize));
        }

        private void fill() {
            if (workers == null) {
                return;
            }
            int most = options.maxJobs == 0 ? 2 * options.workers : options.maxJobs;
            while (jobs.size() < most && begun < batches) {
                Job job = new Job(indices(begun++));
                jobs.addLast(job);
                workers.execute(job);
            }
        }

        @Override
        public boolean hasNext() {
            return !ended && taken < batches;
        }

        @Override
        public B next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            long start = System.nanoTime();
            Prepared<B> prepared;
            if (workers == null) {
                prepared = prepare(indices(taken));
            } else {
                prepared = await(jobs.removeFirst());
                fill();
            }
            prepared.made().forEach(Tensor::scoped);
            taken++;
            if (options.listener != null) {
                long examples = Math.min((long) taken * options.batchSize, order.length);
                options.listener.accept(new Progress(taken, batches, examples, System.nanoTime() - start));
            }
            return prepared.batch();
        }

        private Prepared<B> await(Job job) {
            try {
                return job.take();
            } catch (InterruptedException e) {
                jobs.addFirst(job);
                end();
                Thread.currentThread().interrupt();
                throw new CancellationException("interrupted while waiting for a batch");
            } catch (WorkerException e) {
                end();
                throw e;
            }
        }

        /** Nobody wants the batches that are prepared. */
        private void end() {
            ended = true;
            jobs.forEach(Job::abandon);
            jobs.clear();
        }
    }

    /** A batch that a worker prepares. */
    private final class Job implements Runnable {
        private final long[] indices;
        private boolean running;
        private boolean abandoned;
        private @Nullable Prepared<B> result;
        private @Nullable Throwable failure;

        Job(long[] indices) {
            this.indices = indices;
        }

        @Override
        public void run() {
            synchronized (this) {
                if (abandoned) {
                    return;
                }
                running = true;
            }
            Prepared<B> prepared = null;
            Throwable thrown = null;
            try {
                prepared = prepare(indices);
            } catch (Throwable e) { // Whatever it is, the caller hears of it.
                thrown = e;
            }
            synchronized (this) {
                running = false;
                result = prepared;
                failure = thrown;
                notifyAll();
            }
        }

        synchronized Prepared<B> take() throws InterruptedException {
            while (result == null && failure == null) {
                wait();
            }
            if (result == null) {
                throw new WorkerException(Objects.requireNonNull(failure));
            }
            return result;
        }

        /** Ends without a taker: what runs is waited for, and what was made is freed. */
        synchronized void abandon() {
            abandoned = true;
            boolean interrupted = false;
            while (running) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (result != null) {
                result.made().forEach(Tensor::close);
                result = null;
            }
        }
    }
}
