package org.rushlight.inference;

import java.time.Duration;
import java.util.Map;

/**
 * Counts and latencies of a {@link Predictor} since it was created. The latency of a request is the time from its
 * submission to its result; percentiles are those of the latest 8192 requests.
 *
 * <pre>{@code
 * try (Predictor predictor = Predictor.of(model, new Predictor.Options())) {
 *     predictor.predict(Torch.zeros(1, 28, 28));
 *     PredictorMetrics metrics = predictor.metrics();
 *     System.out.println(metrics.batchSizes() + " " + metrics.failed()); // {1=1} 0
 * }
 * }</pre>
 *
 * @param completed number of requests that have a result
 * @param failed number of requests for which the model failed
 * @param timedOut number of requests without a result when their time was over
 * @param cancelled number of requests that the caller cancelled before they had a result
 * @param rejected number of requests for which the queue was full
 * @param queueLength number of requests that wait now
 * @param batches number of batches for which the model was called
 * @param batchSizes number of batches by number of requests
 * @param mean mean latency of the completed requests; zero if there are none
 * @param p50 median latency
 * @param p95 latency that 95 % of the requests do not exceed
 * @param p99 latency that 99 % of the requests do not exceed
 * @param max largest latency of all completed requests
 */
public record PredictorMetrics(
        long completed, long failed, long timedOut, long cancelled, long rejected, int queueLength, long batches,
        Map<Integer, Long> batchSizes, Duration mean, Duration p50, Duration p95, Duration p99, Duration max) {
    /**
     * Returns the mean number of requests per batch.
     *
     * @return the mean; 0 without batches
     */
    public double meanBatchSize() {
        long requests = batchSizes.entrySet().stream().mapToLong(entry -> entry.getKey() * entry.getValue()).sum();
        return batches == 0 ? 0 : (double) requests / batches;
    }
}
