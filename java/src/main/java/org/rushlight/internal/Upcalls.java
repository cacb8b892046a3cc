package org.rushlight.internal;

import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;

/**
 * Functions that the native side calls. Handles passed in belong to the callee, returned handles to the caller; 0 means
 * no tensor.
 */
public final class Upcalls {
    private Upcalls() {}

    /**
     * A function of tensors: hooks of nodes and leaves, backward of custom functions, the function that gradcheck
     * checks.
     */
    @FunctionalInterface
    public interface OfTensors {
        /** Null stands for no result. */
        long[] call(long[] first, long[] second, boolean[] flags);
    }

    /** A kernel of an operator: any values in and out, as a long[] and a String[] each. */
    @FunctionalInterface
    public interface OfValues {
        Object[] call(long[] numbers, String[] strings);
    }

    /** Hooks of saved tensors. */
    public interface OfSaved {
        Object pack(long tensor);

        long unpack(Object packed);
    }

    static void run(Object body) {
        ((Runnable) body).run();
    }

    /** Runs a gradient hook: takes ownership of the gradient's handle, returns the handle of a replacement, or 0. */
    static long hook(Object hook, long grad) {
        return ((LongUnaryOperator) hook).applyAsLong(grad);
    }

    static long[] tensors(Object function, long[] first, long[] second, boolean[] flags) {
        return ((OfTensors) function).call(first, second, flags);
    }

    static Object[] values(Object function, Object[] values) {
        return ((OfValues) function).call((long[]) values[0], (String[]) values[1]);
    }

    /** Passes what a program printed to a {@code Consumer<String>}. */
    @SuppressWarnings("unchecked")
    static void text(Object consumer, String text) {
        ((Consumer<String>) consumer).accept(text);
    }

    static Object pack(Object hooks, long tensor) {
        return ((OfSaved) hooks).pack(tensor);
    }

    static long unpack(Object hooks, Object packed) {
        return ((OfSaved) hooks).unpack(packed);
    }

    /** Called when a packed value is no longer needed. */
    static void release(Object packed) throws Exception {
        if (packed instanceof AutoCloseable closeable) {
            closeable.close();
        }
    }
}
