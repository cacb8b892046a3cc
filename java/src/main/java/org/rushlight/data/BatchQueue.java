package org.rushlight.data;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rushlight.RushlightException;

/**
 * Queue of the batches of an epoch that workers prepare. Only {@link #take} waits for a worker; once the queue has
 * ended, a worker frees the batch it has prepared.
 */
final class BatchQueue<B> {
    private final Executor workers;
    private final boolean ordered;
    private final @Nullable Duration timeout;
    private final Deque<Job> jobs = new ArrayDeque<>();
    private boolean ended;

    /**
     * Creates an empty queue.
     *
     * @param ordered whether batches are returned in the order of the requests, or as they become ready
     * @param timeout maximum wait for a batch; null for no limit
     */
    BatchQueue(Executor workers, boolean ordered, @Nullable Duration timeout) {
        this.workers = workers;
        this.ordered = ordered;
        this.timeout = timeout;
    }

    synchronized int size() {
        return jobs.size();
    }

    synchronized void ask(Supplier<Prepared<B>> prepare) {
        Job job = new Job(prepare);
        workers.execute(job);
        jobs.addLast(job); // Only jobs that the workers have accepted.
    }

    /**
     * Takes a batch; returns null if the queue has ended.
     *
     * @throws WorkerException if preparing the batch failed
     * @throws RushlightException if the wait times out; {@code take} may then be called again
     */
    synchronized @Nullable Prepared<B> take() throws InterruptedException {
        long start = System.nanoTime();
        while (!ended) {
            Job job = ready();
            if (job != null) {
                jobs.remove(job);
                return job.outcome();
            }
            if (timeout == null) {
                wait();
                continue;
            }
            long left = NANOSECONDS.convert(timeout) - (System.nanoTime() - start);
            if (left <= 0) {
                throw new RushlightException(
                    "Timeout in DataLoader queue while waiting for next batch (timeout was " + MILLISECONDS.convert(timeout) + " ms)");
            }
            NANOSECONDS.timedWait(this, left);
        }
        return null;
    }

    private @Nullable Job ready() {
        if (ordered) {
            Job first = jobs.peekFirst();
            return first != null && first.done ? first : null;
        }
        return jobs.stream().filter(job -> job.done).findFirst().orElse(null);
    }

    /** Ends the queue: prepared batches are freed, now or when their workers finish. */
    synchronized void end() {
        ended = true;
        jobs.forEach(Job::free);
        jobs.clear();
        notifyAll();
    }

    private synchronized boolean hasEnded() {
        return ended;
    }

    /** A batch prepared by a worker. The queue guards its fields. */
    private final class Job implements Runnable {
        private final Supplier<Prepared<B>> prepare;
        private boolean done;
        private @Nullable Prepared<B> result;
        private @Nullable Throwable failure;

        Job(Supplier<Prepared<B>> prepare) {
            this.prepare = prepare;
        }

        @Override
        public void run() {
            if (hasEnded()) {
                return;
            }
            try {
                finish(prepare.get(), null);
            } catch (Throwable e) { // Any failure is passed to the caller.
                finish(null, e);
            }
        }

        private void finish(@Nullable Prepared<B> prepared, @Nullable Throwable thrown) {
            synchronized (BatchQueue.this) {
                done = true;
                result = prepared;
                failure = thrown;
                if (ended) {
                    free();
                }
                BatchQueue.this.notifyAll();
            }
        }

        private @Nullable Prepared<B> outcome() {
            if (failure != null) {
                throw new WorkerException(failure);
            }
            return result;
        }

        private void free() {
            if (result != null) {
                result.free();
            }
        }
    }
}
