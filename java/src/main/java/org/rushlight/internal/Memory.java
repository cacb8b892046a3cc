package org.rushlight.internal;

import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;

/**
 * Informs Java's garbage collector about native memory, which it cannot see.
 *
 * <p>The wrapper of a tensor of a gigabyte takes a few dozen bytes on the Java heap, so that unclosed tensors could
 * fill the machine before the garbage collector runs. Whenever the native side returns a tensor, it compares the native
 * memory held by Java with a limit. A thread above the limit requests a collection and waits while the cleaner frees
 * what was found. Other threads that arrive meanwhile also wait, because several threads create tensors faster than one
 * thread frees them. If too little is freed, the limit becomes twice what is left.
 *
 * <p>With {@code -XX:+DisableExplicitGC} the JVM ignores these requests, and unclosed tensors wait until the Java heap
 * needs a collection.
 */
public final class Memory {
    /** Never collect below this: {@code -Drushlight.pressure=<bytes>}. */
    private static final long FLOOR = Long.getLong("rushlight.pressure", 64L << 20);
    /**
     * If the cleaner frees nothing for this long, it has finished or waits for this thread. On a busy machine it may be
     * delayed.
     */
    private static final long STANDSTILL_NANOS = 100_000_000L;
    /** The same when enough has already been freed. */
    private static final long SHORT_STANDSTILL_NANOS = 5_000_000L;
    /** If the cleaner takes longer than this, it continues on its own. */
    private static final long LONGEST_WAIT_NANOS = 1_000_000_000L;
    /** Returning freed memory to the system causes page faults later. */
    private static final long BETWEEN_TRIMS_NANOS = 250_000_000L;

    private static final String IGNORED = "the JVM ignores System.gc() (-XX:+DisableExplicitGC?), so that the memory of tensors that nobody"
        + " closes comes back late: close them, use Scope, or take that flag away";

    private static long limit = FLOOR;
    /** Whether the JVM ignored a request for a collection. */
    private static volatile boolean ignored;
    /** Whether that was logged. */
    private static volatile boolean explained = Boolean.getBoolean("rushlight.leaks");
    private static boolean told;
    private static long lastTrim = System.nanoTime();

    private Memory() {}

    /** Sets the initial limit. Called when the first tensor class is initialized. */
    public static void watch() {
        NativeCore.setPressureLimit(FLOOR);
        NativeCore.collectBeforeFailing();
    }

    /** With the leak detector on, reports once that the JVM ignores requests for a collection. */
    public static void explain(boolean on) {
        explained = on;
    }

    /** Returns additional information for an out-of-memory message. */
    public static String advice() {
        return ignored ? "; " + IGNORED : "";
    }

    /**
     * Called by the native side before an allocation fails, which is then retried: frees what the garbage collector
     * finds.
     */
    static synchronized void reclaim() {
        collect(0, 0);
        NativeCore.trimMemory();
    }

    /** Called by the native side when the limit is exceeded. */
    static synchronized void pressure() {
        if (NativeCore.weight() <= limit) {
            return;
        }
        long left = collect(limit / 2, enough());
        if (left > enough()) {
            // Other threads may have released more memory meanwhile.
            left = collect(limit / 2, enough());
            tellIfIgnored();
        }
        // The limit decreases slowly, and is raised at once.
        limit = left <= enough() ? Math.max(FLOOR, limit - limit / 16) : 2 * left;
        NativeCore.setPressureLimit(limit);
        trim();
    }

    /**
     * Returns memory freed by the cleaner to the system. The C library keeps an arena for almost every thread that
     * created tensors, and memory freed by another thread does not shrink it.
     */
    private static void trim() {
        long now = System.nanoTime();
        if (now - lastTrim >= BETWEEN_TRIMS_NANOS) {
            NativeCore.trimMemory();
            lastTrim = now;
        }
    }

    /** If this much memory remains, the garbage collector need not run for every request. */
    private static long enough() {
        return limit - limit / 4;
    }

    private static void tellIfIgnored() {
        if (ignored && explained && !told) {
            told = true;
            System.getLogger("org.rushlight").log(Level.WARNING, IGNORED);
        }
    }

    /**
     * Collects, and waits for the cleaner until {@code goal} is left; waits longer until {@code enough} is. Returns
     * what is left.
     */
    private static long collect(long goal, long enough) {
        WeakReference<Object> canary = new WeakReference<>(new Object());
        // The JVM drops a request shortly after a collection of the young generation.
        for (int attempt = 0; attempt < 2 && canary.get() != null; attempt++) {
            System.gc();
        }
        ignored = canary.get() != null;
        boolean interrupted = false;
        long start = System.nanoTime();
        long progress = start;
        long now = start;
        long weight = NativeCore.weight();
        while (weight > goal && now - progress < (weight <= enough ? SHORT_STANDSTILL_NANOS : STANDSTILL_NANOS)
                && now - start < LONGEST_WAIT_NANOS) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            long before = weight;
            weight = NativeCore.weight();
            now = System.nanoTime();
            progress = weight < before ? now : progress;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return weight;
    }
}
