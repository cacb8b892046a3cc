package org.rushlight.internal;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Which objects stand for the same native tensor, for the packages beside that of {@code Tensor}. */
public final class Identity {
    private static Function<Object, @Nullable Long> handles = tensor -> null;

    private Identity() {}

    /**
     * Called by the class of tensors, once.
     *
     * @param handle the native handle of a tensor; null of a closed one
     */
    public static void install(Function<Object, @Nullable Long> handle) {
        handles = handle;
    }

    /**
     * A key for sets and maps.
     *
     * @param tensor a tensor
     * @return equal for objects that stand for the same open tensor; a closed one equals itself alone, for its handle may be another's now
     */
    public static Object of(Object tensor) {
        Long handle = handles.apply(tensor);
        return handle != null ? handle : tensor;
    }
}
