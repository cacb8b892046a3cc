package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Disables gradient recording on this thread until it is closed: {@code try (NoGrad guard = new NoGrad()) {...}}.
 * Guards are closed in reverse order of opening, on the thread that opened them; a virtual thread needs {@link
 * Torch#pinned}.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(2).requiresGrad_(true);
 * try (NoGrad off = new NoGrad()) {
 *     System.out.println(w.mul(2).requiresGrad()); // false
 * }
 * }</pre>
 */
public final class NoGrad extends Guard {
    private final boolean before = NativeCore.gradEnabled();

    /**
     * Disables recording.
     *
     * @throws IllegalStateException on a virtual thread, outside of {@link Torch#pinned}
     */
    public NoGrad() {
        NativeCore.setGradEnabled(false);
        inForce();
    }

    @Override
    void restore() {
        NativeCore.setGradEnabled(before);
    }
}
