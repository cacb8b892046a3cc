package org.rushlight.inference;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.CopiedOptions;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.ScriptModule;
import org.rushlight.Tensor;
import org.rushlight.Torch;
import org.rushlight.nn.Module;

/**
 * Runs a model for requests of many threads. Workers call it without recording gradients, for several requests at once
 * where they wait at the same time: inputs of equal shape, dtype and device are stacked along a new first dimension, and
 * each request gets its part of the result.
 *
 * <pre>{@code
 * try (Predictor predictor = Predictor.of(input -> input.mul(2), new Predictor.Options().withWorkers(2).withMaxBatchSize(16)
 *         .withMaxDelay(java.time.Duration.ofMillis(1)))) {
 *     System.out.println(predictor.predict(Tensor.of(1f, 2f))); // tensor([2., 4.])
 *     System.out.println(predictor.metrics().completed()); // 1
 * }
 * }</pre>
 *
 * <p>If the model fails for a batch, each of its requests runs alone, so that only those fail that cause it. An input is
 * shared, not copied: do not write into it before the request has its result. It may be closed at once.
 */
public final class Predictor implements AutoCloseable {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final UnaryOperator<Tensor> model;
    private final Options options;
    private final List<Thread> workers = new ArrayList<>();
    private final @Nullable ScheduledThreadPoolExecutor timer;
    private final Recorder recorder = new Recorder();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** Requests that no batch has yet. Guarded by the lock, like the next three. */
    private final Deque<Request> queue = new ArrayDeque<>();
    /** Batches that wait for more requests. */
    private final List<Batch> open = new ArrayList<>();
    /** Number of requests in both. */
    private int waiting;
    private boolean closed;

    /** Options of a {@link Predictor}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends CopiedOptions<Options> {
        private int workers = 1;
        private int maxBatchSize = 1;
        private long maxDelayNanos;
        private int queueCapacity = 1024;
        private @Nullable Duration timeout;

        /** Creates options for one worker that runs each request alone; at most 1024 requests wait, without a limit of time. */
        public Options() {}

        private static int positive(String what, int value) {
            if (value < 1) {
                throw new IllegalArgumentException(what + " is at least 1, not " + value);
            }
            return value;
        }

        /**
         * Sets the number of threads that call the model, each for another batch.
         *
         * @param value number of threads (default 1)
         * @return the changed options
         * @throws IllegalArgumentException if it is not positive
         */
        public Options withWorkers(int value) {
            positive("the number of workers", value);
            return with(options -> options.workers = value);
        }

        /**
         * Sets the maximum number of requests of a batch.
         *
         * @param value number of requests (default 1)
         * @return the changed options
         * @throws IllegalArgumentException if it is not positive
         */
        public Options withMaxBatchSize(int value) {
            positive("the batch size", value);
            return with(options -> options.maxBatchSize = value);
        }

        /**
         * Sets how long the first request of a batch waits for others while a worker is free.
         *
         * @param value the time (default zero: a batch has those requests that wait already)
         * @return the changed options
         * @throws IllegalArgumentException if it is negative
         */
        public Options withMaxDelay(Duration value) {
            if (value.isNegative()) {
                throw new IllegalArgumentException("a delay is not negative: " + value);
            }
            return with(options -> options.maxDelayNanos = TimeUnit.NANOSECONDS.convert(value));
        }

        /**
         * Sets the maximum number of requests that wait for a worker.
         *
         * @param value number of requests (default 1024)
         * @return the changed options
         * @throws IllegalArgumentException if it is not positive
         */
        public Options withQueueCapacity(int value) {
            positive("the capacity of the queue", value);
            return with(options -> options.queueCapacity = value);
        }

        /**
         * Sets the time after which a request without a result fails. A model that is running for it goes on, and its
         * result is freed.
         *
         * @param value the time from the submission of a request (default: unlimited)
         * @return the changed options
         * @throws IllegalArgumentException if it is not positive
         */
        public Options withTimeout(Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException("a timeout is positive, not " + value);
            }
            return with(options -> options.timeout = value);
        }
    }

    private Predictor(UnaryOperator<Tensor> model, Options options) {
        this.model = model;
        this.options = options;
        String name = "rushlight-predictor-" + COUNT.incrementAndGet();
        if (options.timeout == null) {
            timer = null;
        } else {
            timer = new ScheduledThreadPoolExecutor(1, job -> daemon(job, name + "-timer"));
            timer.setRemoveOnCancelPolicy(true);
        }
        for (int i = 0; i < options.workers; i++) {
            Thread worker = daemon(this::work, name + "-" + i);
            workers.add(worker);
            worker.start();
        }
    }

    private static Thread daemon(Runnable job, String name) {
        Thread thread = new Thread(job, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Creates a predictor for a function.
     *
     * @param model maps inputs, stacked along the first dimension, to results whose first dimension has the same size;
     *     several workers call it at the same time, each within its own scope
     * @param options the options
     * @return the predictor
     */
    public static Predictor of(UnaryOperator<Tensor> model, Options options) {
        return new Predictor(model, options);
    }

    /**
     * Creates a predictor for a module.
     *
     * @param model the module, which stays the caller's and must stay open; set it to {@link Module#eval} before
     * @param options the options
     * @return the predictor
     */
    public static Predictor of(Module model, Options options) {
        return new Predictor(model::forward, options);
    }

    /**
     * Creates a predictor for a saved model.
     *
     * @param model the model, which stays the caller's and must stay open
     * @param options the options
     * @return the predictor
     */
    public static Predictor of(ScriptModule model, Options options) {
        return new Predictor(input -> model.forward(input).toTensor(), options);
    }

    /** A request, whose future the caller may cancel. */
    private final class Request {
        final Tensor input;
        final long start = System.nanoTime();
        final CompletableFuture<Tensor> future = new CompletableFuture<>();

        Request(Tensor input) {
            this.input = input.share().unscoped();
        }

        boolean matches(Request other) {
            return input.dtype() == other.input.dtype() && input.device().equals(other.input.device())
                && Arrays.equals(input.shape(), other.input.shape());
        }

        /** Called by the worker, which alone uses the input. */
        void complete(Tensor result) {
            // Counted first: a thread that has its result finds it in the metrics.
            long nanos = System.nanoTime() - start;
            recorder.completed(nanos);
            if (!future.complete(result)) {
                recorder.discarded(nanos);
                result.close();
            }
            input.close();
        }

        void fail(Throwable thrown) {
            if (!future.isDone()) {
                recorder.count(Recorder.Outcome.FAILED);
                future.completeExceptionally(thrown instanceof CancellationException ? new PredictionException(thrown) : thrown);
            }
            input.close();
        }
    }

    /** Requests that run together. */
    private static final class Batch {
        final List<Request> requests = new ArrayList<>();
        final long end;

        Batch(Request first, long delayNanos) {
            requests.add(first);
            end = first.start + delayNanos;
        }
    }

    /**
     * Submits a request.
     *
     * @param input input of the model without the dimension of the batch
     * @return the result, which belongs to no scope: the caller closes it. It fails with what the model threw, or with
     *     {@link PredictionTimeoutException}; cancelling it frees a result that comes later
     * @throws RejectedExecutionException if too many requests wait
     * @throws IllegalStateException if the predictor or the input is closed
     */
    public CompletableFuture<Tensor> submit(Tensor input) {
        Request request;
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the predictor is closed");
            }
            if (waiting >= options.queueCapacity) {
                recorder.count(Recorder.Outcome.REJECTED);
                throw new RejectedExecutionException("the queue of the predictor is full: " + waiting + " requests wait");
            }
            request = new Request(input);
            waiting++;
            if (!joins(request)) {
                queue.addLast(request);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        expireLater(request);
        request.future.whenComplete((result, thrown) -> {
            if (thrown instanceof CancellationException) {
                recorder.count(Recorder.Outcome.CANCELLED);
            }
            if (thrown != null) {
                leaveQueue(request);
            }
        });
        return request.future;
    }

    /** Removes a request that was cancelled, or whose time is over. */
    private void leaveQueue(Request request) {
        lock.lock();
        try {
            if (queue.remove(request)) {
                waiting--;
                request.input.close();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Adds a request to a batch that waits for such ones. */
    private boolean joins(Request request) {
        for (Batch batch : open) {
            if (batch.requests.size() < options.maxBatchSize && batch.requests.get(0).matches(request)) {
                batch.requests.add(request);
                return true;
            }
        }
        return false;
    }

    private void expireLater(Request request) {
        Duration timeout = options.timeout;
        if (timer == null || timeout == null) {
            return;
        }
        Runnable expire = () -> {
            if (request.future.completeExceptionally(new PredictionTimeoutException(timeout.toMillis()))) {
                recorder.count(Recorder.Outcome.TIMED_OUT);
            }
        };
        try {
            var expiry = timer.schedule(expire, TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS);
            request.future.whenComplete((result, thrown) -> expiry.cancel(false));
        } catch (RejectedExecutionException e) {
            // The predictor was closed meanwhile: the request was among the last, which have run.
            assert request.future.isDone();
        }
    }

    /**
     * Runs a request and waits for its result.
     *
     * @param input input of the model without the dimension of the batch
     * @return the result, in the innermost scope
     * @throws PredictionException if the model fails
     * @throws PredictionTimeoutException if the time of {@link Options#withTimeout} is over
     * @throws RejectedExecutionException if too many requests wait
     * @throws CancellationException if the thread is interrupted
     * @throws IllegalStateException if the predictor or the input is closed
     */
    public Tensor predict(Tensor input) {
        CompletableFuture<Tensor> future = submit(input);
        try (Tensor result = future.get()) {
            return result.share();
        } catch (InterruptedException e) {
            if (!future.cancel(false) && !future.isCompletedExceptionally()) {
                future.join().close();
            }
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while waiting for a prediction");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PredictionTimeoutException timeout) {
                throw timeout;
            }
            throw new PredictionException(e.getCause());
        }
    }

    /**
     * Returns counts and latencies. This also works after {@link #close}.
     *
     * @return the metrics at this time
     */
    public PredictorMetrics metrics() {
        lock.lock();
        try {
            return recorder.metrics(waiting);
        } finally {
            lock.unlock();
        }
    }

    /** Rejects further requests, and waits until those that were submitted have run. Closing twice is allowed. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        for (Thread worker : workers) {
            // A model that closes its own predictor must not wait for itself.
            while (worker.isAlive() && !workers.contains(Thread.currentThread())) {
                try {
                    worker.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (timer != null) {
            timer.shutdownNow();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void work() {
        for (List<Request> batch = next(); batch != null; batch = next()) {
            run(batch);
        }
    }

    /** Waits for a batch; null once the predictor is closed and nothing waits. */
    private @Nullable List<Request> next() {
        lock.lock();
        try {
            while (queue.isEmpty()) {
                if (closed) {
                    return null;
                }
                changed.awaitUninterruptibly();
            }
            Batch batch = new Batch(queue.removeFirst(), options.maxDelayNanos);
            Iterator<Request> others = queue.iterator();
            while (others.hasNext() && batch.requests.size() < options.maxBatchSize) {
                Request other = others.next();
                if (batch.requests.get(0).matches(other)) {
                    batch.requests.add(other);
                    others.remove();
                }
            }
            open.add(batch);
            fill(batch);
            open.remove(batch);
            waiting -= batch.requests.size();
            return batch.requests;
        } finally {
            lock.unlock();
        }
    }

    private void fill(Batch batch) {
        boolean interrupted = false;
        while (batch.requests.size() < options.maxBatchSize && !closed) {
            long left = batch.end - System.nanoTime();
            if (left <= 0) {
                break;
            }
            try {
                changed.awaitNanos(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(List<Request> batch) {
        List<Request> wanted = new ArrayList<>();
        for (Request request : batch) {
            if (request.future.isDone()) {
                request.input.close(); // It was cancelled, or its time is over.
            } else {
                wanted.add(request);
            }
        }
        if (wanted.isEmpty()) {
            return;
        }
        Throwable thrown = attempt(wanted);
        if (thrown == null) {
            return;
        }
        if (wanted.size() == 1) {
            wanted.get(0).fail(thrown);
            return;
        }
        for (Request request : wanted) {
            Throwable alone = attempt(List.of(request));
            if (alone != null) {
                request.fail(alone);
            }
        }
    }

    /** Runs the model, and returns what it threw, or null if the requests have their results. */
    private @Nullable Throwable attempt(List<Request> requests) {
        recorder.batch(requests.size());
        List<Tensor> results;
        try (NoGrad off = new NoGrad(); Scope scope = new Scope()) {
            assert off != null && scope != null;
            results = results(requests);
            // Only after all were created: on an error the scope frees them.
            results.forEach(Tensor::unscoped);
        } catch (Throwable e) { // Whatever it is, the request has it.
            return e;
        }
        for (int i = 0; i < requests.size(); i++) {
            requests.get(i).complete(results.get(i));
        }
        return null;
    }

    private List<Tensor> results(List<Request> requests) {
        int count = requests.size();
        Tensor input = count == 1 ? requests.get(0).input.unsqueeze(0) : Torch.stack(requests.stream().map(request -> request.input).toArray(Tensor[]::new));
        Tensor output = model.apply(input);
        if (output.dim() == 0 || output.size(0) != count) {
            throw new IllegalStateException("the model returned a tensor of shape " + Arrays.toString(output.shape()) + " for " + count
                + (count == 1 ? " request" : " requests") + ": the first dimension must be that of the batch");
        }
        List<Tensor> results = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            // A copy: a part would keep the memory of the whole batch.
            results.add(output.select(0, i).clone());
        }
        return results;
    }
}
