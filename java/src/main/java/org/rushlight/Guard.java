package org.rushlight;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * A thread-local setting that is restored when the guard is closed. Guards are closed in reverse order of opening, on
 * the thread that opened them. Closing a guard twice does nothing, since the setting may belong to another guard by
 * then.
 *
 * <p>The setting belongs to the native thread. A virtual thread may move to another native thread whenever it blocks,
 * and leave the setting behind. A guard therefore throws on a virtual thread, unless {@link Torch#pinned} keeps the
 * thread on its carrier.
 */
abstract class Guard implements AutoCloseable {
    private static final ThreadLocal<Guard> INNERMOST = new ThreadLocal<>();
    /** {@code Thread.isVirtual}; null before JDK 21. */
    private static final @Nullable MethodHandle IS_VIRTUAL = isVirtual();

    private final Thread owner = Thread.currentThread();
    private @Nullable Guard outer;
    private boolean closed;

    Guard() {
        if (isVirtual(owner) && !NativeCore.isPinned()) {
            throw new IllegalStateException(
                name() + " on the virtual thread '" + owner.getName() + "', which may go on on another native thread: put the block into Torch.pinned");
        }
    }

    private static @Nullable MethodHandle isVirtual() {
        try {
            return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    static boolean isVirtual(Thread thread) {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable e) {
            throw new AssertionError("isVirtual throws nothing", e);
        }
    }

    /** Called once the setting is made. */
    final void inForce() {
        outer = INNERMOST.get();
        INNERMOST.set(this);
    }

    /** Restores the previous setting. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (Thread.currentThread() != owner) {
            throw new IllegalStateException("the " + name() + " belongs to thread '" + owner.getName() + "'");
        }
        Guard innermost = INNERMOST.get();
        if (innermost != this) {
            throw new IllegalStateException("a " + innermost.name() + " inside this " + name() + " is still open");
        }
        end();
    }

    private void end() {
        closed = true;
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
        restore();
    }

    /** Runs a body that must close all of its guards; guards left open are closed, and reported. */
    static void balanced(Runnable body) {
        Guard before = INNERMOST.get();
        Guard forgotten = null;
        try {
            body.run();
        } finally {
            // The body may have closed guards that were open before it.
            while (before != null && before.closed) {
                before = before.outer;
            }
            for (Guard guard = INNERMOST.get(); guard != before; guard = INNERMOST.get()) {
                forgotten = guard;
                guard.end();
            }
        }
        if (forgotten != null) {
            throw new IllegalStateException("a " + forgotten.name() + " inside Torch.pinned was not closed");
        }
    }

    private String name() {
        return getClass().getSimpleName();
    }

    abstract void restore();
}
