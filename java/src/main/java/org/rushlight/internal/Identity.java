package org.rushlight.internal;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Identifies objects that refer to the same native tensor, for packages other than that of {@code Tensor}. */
public final class Identity {
    private static Function<Object, @Nullable Long> handles = tensor -> null;

    private Identity() {}

    /**
     * Called once, by the class of tensors.
     *
     * @param handle returns the native handle of a tensor, or null for a closed one
     */
    public static void install(Function<Object, @Nullable Long> handle) {
        handles = handle;
    }

    /**
     * Returns a key for sets and maps.
     *
     * @param tensor a tensor
     * @return equal keys for objects that refer to the same open tensor; a closed one equals only itself, since its
     *     handle may be reused
     */
    public static Object of(Object tensor) {
        Long handle = handles.apply(tensor);
        return handle != null ? handle : tensor;
    }
}
