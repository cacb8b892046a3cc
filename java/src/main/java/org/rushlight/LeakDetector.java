package org.rushlight;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.Memory;

/**
 * Finds tensors that were neither closed nor held by a scope, and that the garbage collector freed. A leak is not an
 * error, only memory that was freed late; but a program that leaves many tensors to the garbage collector uses more
 * memory. A {@link Scope} left open on a long-lived thread is worse, since it holds every tensor created there: {@link
 * #open} reports it.
 *
 * <p>While it is on, each tensor and each scope records the stack trace of its creation, which takes a few
 * microseconds. {@code -Drushlight.leaks=true} enables it from the start, {@link #start} later: for tests, or to find
 * out what holds memory.
 *
 * <pre>{@code
 * LeakDetector.start(origin -> origin.printStackTrace());
 * Torch.ones(2, 3);                      // Never closed: reported when it is garbage collected.
 * List<Throwable> open = LeakDetector.open();
 * LeakDetector.stop();
 * }</pre>
 */
public final class LeakDetector {
    /** Null while it is off. */
    private static volatile @Nullable Consumer<Throwable> listener = Boolean.getBoolean("rushlight.leaks") ? LeakDetector::log : null;

    private static final Set<Traced> OPEN = ConcurrentHashMap.newKeySet();

    private LeakDetector() {}

    /** Records where a tensor or a scope was created. */
    private static final class Origin extends Throwable {
        private static final long serialVersionUID = 1;

        Origin(String what) {
            super(what + " here (thread '" + Thread.currentThread().getName() + "')");
        }
    }

    /** The cleaner's action for objects created while the detector was on. It must not refer to the object. */
    static final class Traced implements Runnable {
        private final Throwable origin;
        private final Runnable release;
        /** Called on close: the object is not a leak. */
        private volatile boolean closed;

        private Traced(String what, Runnable release) {
            this.origin = new Origin(what);
            this.release = release;
            OPEN.add(this);
        }

        void close() {
            closed = true;
            OPEN.remove(this);
        }

        Throwable origin() {
            return origin;
        }

        @Override
        public void run() {
            OPEN.remove(this);
            release.run();
            Consumer<Throwable> hears = listener;
            if (!closed && hears != null) {
                hears.accept(origin);
            }
        }
    }

    /** Null while the detector is off; otherwise the action that replaces {@code release}. */
    static @Nullable Traced trace(Runnable release) {
        return listener == null ? null : new Traced("a tensor that was made", release);
    }

    /** Null while the detector is off. */
    static @Nullable Traced trace(Scope scope) {
        if (listener == null) {
            return null;
        }
        Traced traced = new Traced("a scope that was opened", () -> {});
        NativeOwner.CLEANER.register(scope, traced);
        return traced;
    }

    private static void log(Throwable origin) {
        System.getLogger("org.rushlight").log(Level.WARNING, "left to the collector instead of being closed", origin);
    }

    /**
     * Enables the detector for tensors and scopes created from now on: leaks are written to the log {@code
     * org.rushlight}.
     */
    public static void start() {
        start(LeakDetector::log);
    }

    /**
     * Enables the detector for tensors and scopes created from now on.
     *
     * @param leaked receives the stack trace of the creation of each leaked tensor or scope, on a thread of the cleaner
     */
    public static void start(Consumer<Throwable> leaked) {
        listener = leaked;
        Memory.explain(true);
    }

    /** Disables the detector. */
    public static void stop() {
        listener = null;
        Memory.explain(false);
    }

    /**
     * Returns where the open tensors and scopes were created, for those created while the detector was on.
     *
     * @return stack traces
     */
    public static List<Throwable> open() {
        return OPEN.stream().map(Traced::origin).toList();
    }
}
