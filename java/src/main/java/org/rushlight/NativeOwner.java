package org.rushlight;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Owns a native handle: frees it on close or when the garbage collector finds the object, but never while a native call
 * uses it.
 *
 * <p>Pass the handle to the native side only between {@link #acquire} and {@link #release}: they protect it from the
 * garbage collector and from a close on another thread.
 */
abstract class NativeOwner implements AutoCloseable {
    static final Cleaner CLEANER = Cleaner.create();

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(NativeOwner.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long handle;
    private final Cleaner.Cleanable cleanable;
    /** Bit 0: closed. The other bits: twice the number of native calls that use the handle now. */
    private volatile int state;

    /** {@code release} frees the handle, and must not refer to this object. */
    NativeOwner(long handle, Runnable release) {
        this.handle = handle;
        this.cleanable = CLEANER.register(this, release);
    }

    /** Returns the name of this object for messages. */
    abstract String label();

    /** Called once by the closing thread; the handle is still valid. */
    void closing() {}

    /** Returns the C handle. Call it only between {@link #acquire} and {@link #release}, and in {@link #closing}. */
    final long handle() {
        return handle;
    }

    static NativeOwner[] concat(@Nullable NativeOwner[] list, @Nullable NativeOwner @Nullable ... more) {
        if (more == null) {
            return list;
        }
        NativeOwner[] all = Arrays.copyOf(list, list.length + more.length, NativeOwner[].class);
        System.arraycopy(more, 0, all, list.length, more.length);
        return all;
    }

    static long handleOrZero(@Nullable NativeOwner owner) {
        return owner == null ? 0 : owner.handle;
    }

    /** Protects the handle until {@link #release} from the garbage collector and from a close on another thread. */
    static void acquire(@Nullable NativeOwner a) {
        if (a != null && ((int) STATE.getAndAdd(a, 2) & 1) != 0) {
            release(a);
            throw new IllegalStateException(a.label() + " is closed");
        }
    }

    static void acquire(@Nullable NativeOwner a, @Nullable NativeOwner b) {
        acquire(a);
        try {
            acquire(b);
        } catch (IllegalStateException e) {
            release(a);
            throw e;
        }
    }

    static void acquire(@Nullable NativeOwner a, @Nullable NativeOwner b, @Nullable NativeOwner c) {
        acquire(a, b);
        try {
            acquire(c);
        } catch (IllegalStateException e) {
            release(a, b);
            throw e;
        }
    }

    static void acquire(@Nullable NativeOwner a, @Nullable NativeOwner b, @Nullable NativeOwner c, @Nullable NativeOwner d) {
        acquire(a, b, c);
        try {
            acquire(d);
        } catch (IllegalStateException e) {
            release(a, b, c);
            throw e;
        }
    }

    static void acquire(@Nullable NativeOwner... owners) {
        for (int i = 0; i < owners.length; i++) {
            try {
                acquire(owners[i]);
            } catch (IllegalStateException e) {
                release(Arrays.copyOf(owners, i));
                throw e;
            }
        }
    }

    static void release(@Nullable NativeOwner a) {
        if (a != null && (int) STATE.getAndAdd(a, -2) == 3) {
            // Closed while in use, and this was the last user.
            a.cleanable.clean();
        }
    }

    static void release(@Nullable NativeOwner a, @Nullable NativeOwner b) {
        release(a);
        release(b);
    }

    static void release(@Nullable NativeOwner a, @Nullable NativeOwner b, @Nullable NativeOwner c) {
        release(a);
        release(b);
        release(c);
    }

    static void release(@Nullable NativeOwner a, @Nullable NativeOwner b, @Nullable NativeOwner c, @Nullable NativeOwner d) {
        release(a, b);
        release(c, d);
    }

    static void release(@Nullable NativeOwner... owners) {
        for (NativeOwner owner : owners) {
            release(owner);
        }
    }

    final void checkOpen() {
        acquire(this);
        release(this);
    }

    final boolean closed() {
        return (state & 1) != 0;
    }

    /** Frees the native object, unless others share it. Closing twice is allowed. */
    @Override
    public void close() {
        int before = (int) STATE.getAndBitwiseOr(this, 1);
        if ((before & 1) != 0) {
            return;
        }
        closing();
        if (before == 0) {
            cleanable.clean();
        }
    }
}
