package org.rushlight.internal;

import java.util.function.LongUnaryOperator;

/** What the native side calls back. */
final class Upcalls {
    private Upcalls() {}

    /** Runs a gradient hook: takes over the handle of the gradient, returns one that replaces it, or 0. */
    static long hook(Object hook, long grad) {
        return ((LongUnaryOperator) hook).applyAsLong(grad);
    }
}
