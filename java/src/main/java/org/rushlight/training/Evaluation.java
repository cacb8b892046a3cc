package org.rushlight.training;

import java.time.Duration;
import java.util.Map;

/**
 * Loss and metrics of a pass over a dataset.
 *
 * <pre>{@code
 * System.out.println(new Evaluation(0.5, Map.of(), 10, 640, java.time.Duration.ofSeconds(2)).examplesPerSecond()); // 320.0
 * }</pre>
 *
 * @param loss mean loss of the examples; NaN without examples
 * @param metrics values of the metrics by name
 * @param batches number of batches
 * @param examples number of examples
 * @param time time of the pass
 */
public record Evaluation(double loss, Map<String, Double> metrics, long batches, long examples, Duration time) {
    /**
     * Returns the throughput.
     *
     * @return examples per second
     */
    public double examplesPerSecond() {
        return examples / (time.toNanos() * 1e-9);
    }
}
