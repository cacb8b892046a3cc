package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Enables gradient recording on this thread until it is closed, within a {@link NoGrad}: {@code try (EnableGrad guard =
 * new EnableGrad()) {...}}. Close it like {@link NoGrad}.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(2).requiresGrad_(true);
 * try (NoGrad off = new NoGrad(); EnableGrad on = new EnableGrad()) {
 *     System.out.println(w.mul(2).requiresGrad()); // true
 * }
 * }</pre>
 */
public final class EnableGrad extends Guard {
    private final boolean before = NativeCore.gradEnabled();

    /**
     * Enables recording.
     *
     * @throws IllegalStateException on a virtual thread, outside of {@link Torch#pinned}
     */
    public EnableGrad() {
        NativeCore.setGradEnabled(true);
        inForce();
    }

    @Override
    void restore() {
        NativeCore.setGradEnabled(before);
    }
}
