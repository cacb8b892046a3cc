package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Switches the recording of gradients off on this thread until it is closed: {@code try (NoGrad guard = new NoGrad()) {...}}.
 */
public final class NoGrad extends Guard {
    private final boolean before = NativeCore.gradEnabled();

    /** Switches recording off. */
    public NoGrad() {
        NativeCore.setGradEnabled(false);
    }

    @Override
    void restore() {
        NativeCore.setGradEnabled(before);
    }
}
