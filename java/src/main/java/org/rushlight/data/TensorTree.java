package org.rushlight.data;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Finds the tensors of a batch: a tensor itself, those of arrays, collections, maps and optionals, and those in the
 * fields of any other object, such as a record. Other JDK classes are not searched.
 */
final class TensorTree {
    /** The fields of a class that may contain tensors. */
    private static final ClassValue<List<Field>> FIELDS = new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
            return Arrays.stream(type.getDeclaredFields()).filter(TensorTree::leadsOn).toList();
        }
    };

    private TensorTree() {}

    static void forEach(@Nullable Object root, Consumer<Tensor> action) {
        Set<Object> known = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> waiting = new ArrayDeque<>();
        Consumer<@Nullable Object> later = value -> {
            if (value != null && known.add(value)) {
                waiting.addLast(value);
            }
        };
        later.accept(root);
        while (!waiting.isEmpty()) {
            Object value = waiting.removeFirst();
            if (value instanceof Tensor tensor) {
                action.accept(tensor);
            } else {
                parts(value, later);
            }
        }
    }

    private static void parts(Object value, Consumer<@Nullable Object> later) {
        if (value instanceof Object[] array) {
            for (Object item : array) {
                later.accept(item);
            }
        } else if (value instanceof Collection<?> items) {
            items.forEach(later);
        } else if (value instanceof Map<?, ?> map) {
            map.forEach((key, item) -> {
                later.accept(key);
                later.accept(item);
            });
        } else if (value instanceof Map.Entry<?, ?> entry) {
            later.accept(entry.getKey());
            later.accept(entry.getValue());
        } else if (value instanceof Optional<?> optional) {
            optional.ifPresent(later);
        } else {
            for (Class<?> type = value.getClass(); !isOfJdk(type); type = type.getSuperclass()) {
                FIELDS.get(type).forEach(field -> later.accept(read(field, value)));
            }
        }
    }

    private static boolean isOfJdk(Class<?> type) {
        return type.getClassLoader() == null || type.getClassLoader() == ClassLoader.getPlatformClassLoader();
    }

    /** Static fields, and references to an enclosing object, are not part of the batch. */
    private static boolean leadsOn(Field field) {
        Class<?> type = field.getType();
        boolean plain = type.isPrimitive() || type.isEnum() || type == String.class || Number.class.isAssignableFrom(type) || type == Boolean.class;
        return !plain && !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic();
    }

    private static @Nullable Object read(Field field, Object of) {
        try {
            if (field.trySetAccessible()) {
                return field.get(of);
            }
        } catch (IllegalAccessException e) {
            throw closed(field, e);
        }
        throw closed(field, null);
    }

    private static IllegalStateException closed(Field field, @Nullable Exception cause) {
        Class<?> type = field.getDeclaringClass();
        return new IllegalStateException("a batch holds a " + type.getName() + ", whose field '" + field.getName()
            + "' may hold tensors to hand over: its module must open the package " + type.getPackageName() + " to org.rushlight", cause);
    }
}
