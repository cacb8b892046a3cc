package org.rushlight.data;

import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/** The tensors of a batch: a tensor itself, those of arrays and collections, and of records their components. */
final class TensorTree {
    private TensorTree() {}

    static void forEach(@Nullable Object value, Consumer<Tensor> action) {
        if (value instanceof Tensor tensor) {
            action.accept(tensor);
        } else if (value instanceof Object[] array) {
            for (Object item : array) {
                forEach(item, action);
            }
        } else if (value instanceof Iterable<?> items) {
            items.forEach(item -> forEach(item, action));
        } else if (value instanceof Map<?, ?> map) {
            map.values().forEach(item -> forEach(item, action));
        } else if (value instanceof Record record) {
            for (RecordComponent component : record.getClass().getRecordComponents()) {
                forEach(read(component, record), action);
            }
        }
    }

    private static @Nullable Object read(RecordComponent component, Record record) {
        try {
            var accessor = component.getAccessor();
            accessor.trySetAccessible();
            return accessor.invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(record.getClass().getName() + " must be open to org.rushlight: its tensors are handed over", e);
        }
    }
}
