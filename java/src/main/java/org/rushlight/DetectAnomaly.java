package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Until it is closed, whatever fails in a backward of this process names the forward call, if that was made meanwhile, too; NaN in a
 * gradient is a failure: {@code try (DetectAnomaly guard = new DetectAnomaly()) {...}}.
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
public final class DetectAnomaly extends Guard {
    private final boolean before = NativeCore.anomalyMode();
    private final boolean nanBefore = NativeCore.anomalyNanChecked();

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
        NativeCore.setAnomalyMode(true, checkNan);
    }

    @Override
    void restore() {
        NativeCore.setAnomalyMode(before, nanBefore);
    }
}
