package org.rushlight;

import java.util.ArrayList;
import java.util.List;
import org.rushlight.internal.NativeCore;

/**
 * Enables anomaly detection until it is closed: an error in any backward of this process names the forward call, if
 * that was recorded while detection was on, and NaN in a gradient is an error: {@code try (DetectAnomaly guard = new
 * DetectAnomaly()) {...}}. Any thread may close it; of several, the latest one applies.
 *
 * <pre>{@code
 * Tensor w = Tensor.of(0f).requiresGrad_(true);
 * try (DetectAnomaly on = new DetectAnomaly()) {
 *     w.sqrt().mul(0).sum().backward(); // 0 / 0
 * } catch (RushlightException e) {
 *     System.out.println(e.getMessage().contains("SqrtBackward0")); // true
 * }
 * }</pre>
 */
public final class DetectAnomaly implements AutoCloseable {
    /** In order of creation; also the lock of all static state here. */
    private static final List<DetectAnomaly> OPEN = new ArrayList<>();

    private final boolean checkNan;

    /** Enables anomaly detection, including the check for NaN. */
    public DetectAnomaly() {
        this(true);
    }

    /**
     * Enables anomaly detection.
     *
     * @param checkNan whether NaN in a gradient is an error
     */
    public DetectAnomaly(boolean checkNan) {
        this.checkNan = checkNan;
        synchronized (OPEN) {
            OPEN.add(this);
            decide();
        }
    }

    private static void decide() {
        boolean on = !OPEN.isEmpty();
        NativeCore.setAnomalyMode(on, on && OPEN.get(OPEN.size() - 1).checkNan);
    }

    /** Restores the setting of the remaining guards. Closing twice is allowed. */
    @Override
    public void close() {
        synchronized (OPEN) {
            if (OPEN.remove(this)) {
                decide();
            }
        }
    }
}
