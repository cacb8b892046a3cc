package org.rushlight;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * A setting of this thread that ends when it is closed. Guards are closed in the reverse order of opening, on the thread that opened them.
 * Closing one twice does nothing: the setting may be somebody else's by then.
 *
 * <p>The setting is the native thread's. A virtual thread may go on on another one wherever it waits, and leave the setting to whoever runs on
 * the first: a guard is refused there, unless {@link Torch#pinned} keeps it where it is.
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

    /** The setting is made. */
    final void inForce() {
        outer = INNERMOST.get();
        INNERMOST.set(this);
    }

    /** Restores what was before. */
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

    /** Runs a body that leaves none of its guards open; those that it forgets are ended, and told of. */
    static void balanced(Runnable body) {
        Guard before = INNERMOST.get();
        Guard forgotten = null;
        try {
            body.run();
        } finally {
            // The body may have closed some of those that it found.
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
