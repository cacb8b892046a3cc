package org.rushlight;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.Memory;

/**
 * Tells where tensors were made that nobody closed, no scope held, and the collector found. A leak is no error, only memory that came back
 * late; but a program that leaves many tensors to the collector uses more of it. A {@link Scope} that was forgotten open on a thread that lives on is
 * worse, for it holds every tensor that is made there: {@link #open} names it.
 *
 * <p>While it is on, each tensor and each scope remembers the stack of its making, which costs a few microseconds. {@code -Drushlight.leaks=true} switches
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

    /** Where a tensor or a scope was made. */
    private static final class Origin extends Throwable {
        private static final long serialVersionUID = 1;

        Origin(String what) {
            super(what + " here (thread '" + Thread.currentThread().getName() + "')");
        }
    }

    /** What the cleaner runs for what was made while the detector was on. It must not refer to that. */
    static final class Traced implements Runnable {
        private final Throwable origin;
        private final Runnable release;
        /** Somebody closes it: it is no leak. */
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

    /** Null while the detector is off; else what releases a tensor instead of {@code release}. */
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

    /** Switches the detector on, for tensors and scopes made from now on: leaks are written to the log {@code org.rushlight}. */
    public static void start() {
        start(LeakDetector::log);
    }

    /**
     * Switches the detector on, for tensors and scopes made from now on.
     *
     * @param leaked is called with the stack of the making of a tensor or scope that nobody closed, on a thread of the collector's
     */
    public static void start(Consumer<Throwable> leaked) {
        listener = leaked;
        Memory.explain(true);
    }

    /** Switches the detector off. */
    public static void stop() {
        listener = null;
        Memory.explain(false);
    }

    /**
     * Where the tensors and the scopes were made that are open now, of those made while the detector was on.
     *
     * @return the stacks of their making
     */
    public static List<Throwable> open() {
        return OPEN.stream().map(Traced::origin).toList();
    }
}
