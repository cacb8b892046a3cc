package org.rushlight;

import java.util.function.Function;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * Until it is closed, decides what is kept of the tensors that this thread saves for backward: on disk, in another precision, ...
 *
 * <pre>{@code
 * try (var hooks = SavedTensorsHooks.of(x -> x.to(DType.FLOAT16), kept -> kept.to(DType.FLOAT32))) {
 *     loss = model.forward(input).mean();
 * }
 * }</pre>
 *
 * <p>Hooks nest: the innermost one packs. Both functions may be called on any thread. They are closed as {@link NoGrad} is.
 */
public final class SavedTensorsHooks extends Guard {
    private SavedTensorsHooks(Upcalls.OfSaved hooks) {
        NativeCore.pushSavedTensorHooks(hooks);
        inForce();
    }

    /**
     * Puts hooks in force.
     *
     * @param pack receives each tensor that is saved, and must not write to it; what it returns, of any type, is kept instead, and closed
     *     when it is not needed any more if it can be closed
     * @param unpack makes a tensor of that when backward asks for it, maybe several times
     * @param <P> what is kept
     * @return closing it ends them: those before them are in force again
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
                        // A share of the graph's: the tensor itself may belong to a scope, or to somebody else.
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
