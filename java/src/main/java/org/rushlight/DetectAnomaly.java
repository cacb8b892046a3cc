package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Until it is closed, whatever fails in a backward of this process names the forward call, if that was made meanwhile, too; NaN in a
 * gradient is a failure: {@code try (DetectAnomaly guard = new DetectAnomaly()) {...}}.
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
