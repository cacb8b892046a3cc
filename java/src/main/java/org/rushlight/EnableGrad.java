package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Switches the recording of gradients on for this thread until it is closed, within a {@link NoGrad}:
 * {@code try (EnableGrad guard = new EnableGrad()) {...}}.
 */
public final class EnableGrad implements AutoCloseable {
    private final boolean before = NativeCore.gradEnabled();

    /** Switches recording on. */
    public EnableGrad() {
        NativeCore.setGradEnabled(true);
    }

    /** Restores what was before. */
    @Override
    public void close() {
        NativeCore.setGradEnabled(before);
    }
}
