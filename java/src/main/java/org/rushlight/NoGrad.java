package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Switches the recording of gradients off on this thread until it is closed: {@code try (NoGrad guard = new NoGrad()) {...}}.
 */
public final class NoGrad implements AutoCloseable {
    private final boolean before = NativeCore.gradEnabled();

    /** Switches recording off. */
    public NoGrad() {
        NativeCore.setGradEnabled(false);
    }

    /** Restores what was before. */
    @Override
    public void close() {
        NativeCore.setGradEnabled(before);
    }
}
