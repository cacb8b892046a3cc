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
 * The batches of an epoch that workers prepare. Nobody ever waits for a worker but in {@link #take}: once the queue has ended, a worker
 * frees what it has made.
 */
final class BatchQueue<B> {
    private final Executor workers;
    private final boolean ordered;
    private final @Nullable Duration timeout;
    private final Deque<Job> jobs = new ArrayDeque<>();
    private boolean ended;

    /**
     * An empty queue.
     *
     * @param ordered the batches come out as they were asked for; else whichever is ready
     * @param timeout how long one is waited for; null for as long as it takes
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
        jobs.addLast(job); // Only what the workers have accepted.
    }

    /**
     * Takes a batch; null if the queue has ended.
     *
     * @throws WorkerException if its preparation has failed
     * @throws RushlightException if it takes too long: it may be asked for again
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

    /** Nobody wants what is prepared: it is freed, now or when its worker is ready. */
    synchronized void end() {
        ended = true;
        jobs.forEach(Job::free);
        jobs.clear();
        notifyAll();
    }

    private synchronized boolean hasEnded() {
        return ended;
    }

    /** A batch that a worker prepares. Its fields are guarded by the queue. */
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
            } catch (Throwable e) { // Whatever it is, the caller hears of it.
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
