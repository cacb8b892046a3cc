package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Switches the recording of gradients on for this thread until it is closed, within a {@link NoGrad}:
 * {@code try (EnableGrad guard = new EnableGrad()) {...}}.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(2).requires_grad_(true);
 * try (NoGrad off = new NoGrad(); EnableGrad on = new EnableGrad()) {
 *     System.out.println(w.mul(2).requiresGrad()); // true
 * }
 * }</pre>
 */
public final class EnableGrad extends Guard {
    private final boolean before = NativeCore.gradEnabled();

    /** Switches recording on. */
    public EnableGrad() {
        NativeCore.setGradEnabled(true);
    }

    @Override
    void restore() {
        NativeCore.setGradEnabled(before);
    }
}
