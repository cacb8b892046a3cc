package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Every public method of {@link Tensor}, called on a closed one, throws {@link IllegalStateException}. */
class ClosedTensorTest {
    /** Methods that may be called on a closed tensor. */
    private static final Set<String> ALLOWED = Set.of("close", "isClosed", "toString", "equals", "hashCode", "getClass", "notify", "notifyAll", "wait");

    @Test
    void everyMethodThrows() {
        List<String> wrong = new ArrayList<>();
        int called = 0;
        try (Tensor open = Torch.ones(2, 2)) {
            for (Method method : Tensor.class.getMethods()) {
                if (Modifier.isStatic(method.getModifiers()) || ALLOWED.contains(method.getName()) || method.isBridge()) {
                    continue;
                }
                Tensor closed = Torch.ones(2, 2);
                closed.close();
                called++;
                String outcome = call(method, closed, open);
                if (!outcome.isEmpty()) {
                    wrong.add(method + ": " + outcome);
                }
            }
        }
        assertTrue(called > 100, called + " methods found");
        assertEquals(List.of(), wrong);
    }

    /** Every operator that takes tensors rejects a closed one in every argument position. */
    @Test
    void everyFunctionThrows() {
        List<String> wrong = new ArrayList<>();
        int called = 0;
        for (Method method : Torch.class.getMethods()) {
            List<Class<?>> types = List.of(method.getParameterTypes());
            boolean takesTensors = types.contains(Tensor.class) || types.contains(Tensor[].class);
            if (!Modifier.isStatic(method.getModifiers()) || !takesTensors) {
                continue;
            }
            Tensor closed = Torch.ones(2, 2);
            closed.close();
            called++;
            String outcome = call(method, null, closed);
            if (!outcome.isEmpty()) {
                wrong.add(method + ": " + outcome);
            }
        }
        assertTrue(called > 1000, called + " functions found");
        assertEquals(List.of(), wrong);
    }

    private static String call(Method method, Tensor receiver, Tensor tensor) {
        Object[] arguments = new Object[method.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(method.getParameterTypes()[i], tensor);
        }
        try {
            method.invoke(receiver, arguments);
            return "returned";
        } catch (InvocationTargetException e) {
            boolean closed = e.getCause() instanceof IllegalStateException && e.getCause().getMessage().contains("is closed");
            return closed ? "" : "threw " + e.getCause();
        } catch (IllegalAccessException e) {
            return "not accessible";
        }
    }

    private static Object argument(Class<?> type, Tensor tensor) {
        if (type == Tensor.class) {
            return tensor;
        }
        if (type == Tensor[].class) {
            return new Tensor[] {tensor};
        }
        if (type == long.class || type == Long.class) {
            return 0L;
        }
        if (type == double.class || type == Double.class) {
            return 0.5;
        }
        if (type == boolean.class || type == Boolean.class) {
            return false;
        }
        if (type == Number.class) {
            return 1;
        }
        if (type == long[].class) {
            return new long[] {0};
        }
        if (type == DType.class) {
            return DType.FLOAT32;
        }
        if (type == Device.class) {
            return Device.CPU;
        }
        if (type == MemoryFormat.class) {
            return MemoryFormat.CONTIGUOUS;
        }
        if (type == Index[].class) {
            return new Index[] {Index.at(0)};
        }
        if (type == String.class) {
            return "floor";
        }
        if (type == UnaryOperator.class) {
            return UnaryOperator.identity();
        }
        return null;
    }
}
