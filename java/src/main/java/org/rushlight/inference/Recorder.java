package org.rushlight.inference;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** Counts what happens to the requests of a {@link Predictor}. */
final class Recorder {
    /** Outcomes of a request. */
    enum Outcome {
        COMPLETED,
        FAILED,
        TIMED_OUT,
        CANCELLED,
        REJECTED
    }

    /** Number of latencies that percentiles are computed from. */
    private static final int WINDOW = 8192;

    private final long[] outcomes = new long[Outcome.values().length];
    private final long[] latest = new long[WINDOW];
    private final Map<Integer, Long> batchSizes = new TreeMap<>();
    private long batches;
    private double totalNanos;
    private long maxNanos;

    synchronized void completed(long nanos) {
        int at = (int) (outcomes[Outcome.COMPLETED.ordinal()]++ % WINDOW);
        latest[at] = nanos;
        totalNanos += nanos;
        maxNanos = Math.max(maxNanos, nanos);
    }

    /** Takes back the last {@link #completed}: the caller had cancelled the request meanwhile. */
    synchronized void discarded(long nanos) {
        outcomes[Outcome.COMPLETED.ordinal()]--;
        totalNanos -= nanos;
    }

    synchronized void count(Outcome outcome) {
        outcomes[outcome.ordinal()]++;
    }

    synchronized void batch(int size) {
        batches++;
        batchSizes.merge(size, 1L, Long::sum);
    }

    synchronized PredictorMetrics metrics(int queueLength) {
        long completed = of(Outcome.COMPLETED);
        long[] sorted = Arrays.copyOf(latest, (int) Math.min(completed, WINDOW));
        Arrays.sort(sorted);
        return new PredictorMetrics(completed, of(Outcome.FAILED), of(Outcome.TIMED_OUT), of(Outcome.CANCELLED), of(Outcome.REJECTED), queueLength,
            batches, Map.copyOf(batchSizes), Duration.ofNanos(completed == 0 ? 0 : Math.round(totalNanos / completed)), percentile(sorted, 50),
            percentile(sorted, 95), percentile(sorted, 99), Duration.ofNanos(maxNanos));
    }

    private long of(Outcome outcome) {
        return outcomes[outcome.ordinal()];
    }

    /** The smallest latency that {@code percent} of all do not exceed. */
    static Duration percentile(long[] sorted, int percent) {
        if (sorted.length == 0) {
            return Duration.ZERO;
        }
        int rank = (int) (((long) sorted.length * percent + 99) / 100);
        return Duration.ofNanos(sorted[rank - 1]);
    }
}
