package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Enables inference mode on this thread until it is closed: no gradients and no version counters; tensors created in it
 * can never be recorded. Close it like {@link NoGrad}.
 *
 * <pre>{@code
 * try (InferenceMode mode = new InferenceMode()) {
 *     System.out.println(Torch.ones(2).isInference()); // true
 * }
 * }</pre>
 */
public final class InferenceMode extends Guard {
    private final boolean before = NativeCore.inferenceMode();

    /**
     * Enables inference mode.
     *
     * @throws IllegalStateException on a virtual thread, outside of {@link Torch#pinned}
     */
    public InferenceMode() {
        NativeCore.setInferenceMode(true);
        inForce();
    }

    @Override
    void restore() {
        NativeCore.setInferenceMode(before);
    }
}
