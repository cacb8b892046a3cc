package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * Switches inference mode on for this thread until it is closed: no gradients, no version counters, and what is made in it can never
 * be recorded.
 *
 * <pre>{@code
 * try (InferenceMode mode = new InferenceMode()) {
 *     System.out.println(Torch.ones(2).isInference()); // true
 * }
 * }</pre>
 */
public final class InferenceMode extends Guard {
    private final boolean before = NativeCore.inferenceMode();

    /** Switches inference mode on. */
    public InferenceMode() {
        NativeCore.setInferenceMode(true);
    }

    @Override
    void restore() {
        NativeCore.setInferenceMode(before);
    }
}
