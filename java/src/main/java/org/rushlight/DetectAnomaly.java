package org.rushlight;

import java.util.ArrayList;
import java.util.List;
import org.rushlight.internal.NativeCore;

/**
 * Until it is closed, whatever fails in a backward of this process names the forward call, if that was made meanwhile, too; NaN in a
 * gradient is a failure: {@code try (DetectAnomaly guard = new DetectAnomaly()) {...}}. Any thread may close it; of several, the one that was
 * made last decides.
 *
 * <pre>{@code
 * Tensor w = Tensor.of(0f).requires_grad_(true);
 * try (DetectAnomaly on = new DetectAnomaly()) {
 *     w.sqrt().mul(0).sum().backward(); // 0 / 0
 * } catch (RushlightException e) {
 *     System.out.println(e.getMessage().contains("SqrtBackward0")); // true
 * }
 * }</pre>
 */
public final class DetectAnomaly implements AutoCloseable {
    /** In the order of making; the lock of all that is static here. */
    private static final List<DetectAnomaly> OPEN = new ArrayList<>();

    private final boolean checkNan;

    /** Looks for anomalies, NaN included. */
    public DetectAnomaly() {
        this(true);
    }

    /**
     * Looks for anomalies.
     *
     * @param checkNan is NaN in a gradient a failure?
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

    /** Leaves the decision to those that are still open. Closing twice is allowed. */
    @Override
    public void close() {
        synchronized (OPEN) {
            if (OPEN.remove(this)) {
                decide();
            }
        }
    }
}
