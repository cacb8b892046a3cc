package org.rushlight;

import java.util.function.Function;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * Installs hooks that transform the tensors this thread saves for backward until they are closed: to store them on
 * disk, in another precision, ...
 *
 * <pre>{@code
 * try (var hooks = SavedTensorsHooks.of(x -> x.to(DType.FLOAT16), kept -> kept.to(DType.FLOAT32))) {
 *     loss = model.forward(input).mean();
 * }
 * }</pre>
 *
 * <p>Hooks nest: the innermost one packs. Both functions may be called on any thread. Close the hooks like {@link
 * NoGrad}.
 */
public final class SavedTensorsHooks extends Guard {
    private SavedTensorsHooks(Upcalls.OfSaved hooks) {
        NativeCore.pushSavedTensorHooks(hooks);
        inForce();
    }

    /**
     * Installs hooks.
     *
     * @param pack receives each saved tensor, and must not write to it; its return value, of any type, is stored
     *     instead, and closed when it is no longer needed if it is {@code AutoCloseable}
     * @param unpack restores the tensor when backward needs it, possibly several times
     * @param <P> the type of the stored value
     * @return close it to restore the previous hooks
     * @throws IllegalStateException on a virtual thread, outside of {@link Torch#pinned}
     */
    public static <P> SavedTensorsHooks of(Function<Tensor, P> pack, Function<P, Tensor> unpack) {
        return new SavedTensorsHooks(new Upcalls.OfSaved() {
            @Override
            @SuppressWarnings("try")
            public Object pack(long tensor) {
                try (Scope scope = new Scope()) {
                    P packed = pack.apply(Tensor.wrap(tensor));
                    if (packed instanceof Tensor kept) {
                        // The graph needs its own reference: the tensor may belong to a scope or to another owner.
                        return kept.share().unscoped();
                    }
                    return packed;
                }
            }

            @Override
            @SuppressWarnings({"try", "unchecked"})
            public long unpack(Object packed) {
                try (Scope scope = new Scope()) {
                    return Tensor.retained(unpack.apply((P) packed));
                }
            }
        });
    }

    @Override
    void restore() {
        NativeCore.popSavedTensorHooks();
    }
}
