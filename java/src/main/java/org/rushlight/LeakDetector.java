package org.rushlight;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * Tells where tensors were made that nobody closed, no scope held, and the collector found. A leak is no error, only memory that came back
 * late; but a program that leaves many tensors to the collector uses more of it.
 *
 * <p>While it is on, each tensor remembers the stack of its making, which costs a few microseconds. {@code -Drushlight.leaks=true} switches
 * it on from the start, and {@link #start} later: for tests, or to find what holds memory.
 *
 * <pre>{@code
 * LeakDetector.start(origin -> origin.printStackTrace());
 * Torch.ones(2, 3);                      // Nobody closes it: heard of when the collector finds it.
 * List<Throwable> open = LeakDetector.open();
 * LeakDetector.stop();
 * }</pre>
 */
public final class LeakDetector {
    /** Null while it is off. */
    private static volatile @Nullable Consumer<Throwable> listener = Boolean.getBoolean("rushlight.leaks") ? LeakDetector::log : null;

    private static final Set<Traced> OPEN = ConcurrentHashMap.newKeySet();

    private LeakDetector() {}

    /** Where a tensor was made. */
    private static final class Origin extends Throwable {
        private static final long serialVersionUID = 1;

        Origin() {
            super("a tensor that was made here (thread '" + Thread.currentThread().getName() + "')");
        }
    }

    /** What the cleaner runs for a tensor that was made while the detector was on. It must not refer to the tensor. */
    static final class Traced implements Runnable {
        private final long handle;
        private final Throwable origin = new Origin();
        /** Somebody closes the tensor: it is no leak. */
        private volatile boolean closed;

        private Traced(long handle) {
            this.handle = handle;
        }

        void close() {
            closed = true;
        }

        @Override
        public void run() {
            OPEN.remove(this);
            NativeCore.free(handle);
            Consumer<Throwable> hears = listener;
            if (!closed && hears != null) {
                hears.accept(origin);
            }
        }
    }

    /** Null while the detector is off. */
    static @Nullable Traced trace(long handle) {
        if (listener == null) {
            return null;
        }
        Traced traced = new Traced(handle);
        OPEN.add(traced);
        return traced;
    }

    private static void log(Throwable origin) {
        System.getLogger("org.rushlight").log(Level.WARNING, "a tensor was left to the collector instead of being closed", origin);
    }

    /** Switches the detector on, for tensors made from now on: leaks are written to the log {@code org.rushlight}. */
    public static void start() {
        start(LeakDetector::log);
    }

    /**
     * Switches the detector on, for tensors made from now on.
     *
     * @param leaked is called with the stack of a tensor's making, on a thread of the collector's
     */
    public static void start(Consumer<Throwable> leaked) {
        listener = leaked;
    }

    /** Switches the detector off. */
    public static void stop() {
        listener = null;
    }

    /**
     * Where the tensors were made that are open now, of those made while the detector was on.
     *
     * @return the stacks of their making
     */
    public static List<Throwable> open() {
        return OPEN.stream().filter(traced -> !traced.closed).map(traced -> traced.origin).toList();
    }
}
