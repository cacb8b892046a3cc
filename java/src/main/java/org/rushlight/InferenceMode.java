package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Switches inference mode on for this thread until it is closed: no gradients, no version counters, and what is made in it can never
 * be recorded. It is closed as {@link NoGrad} is.
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
     * Switches inference mode on.
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
