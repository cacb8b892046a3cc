package org.rushlight.internal;

import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;

/**
 * Tells Java's collector of native memory, which it cannot see.
 *
 * <p>A wrapper of a gigabyte weighs a few dozen bytes on the Java heap, so that unclosed tensors could fill the machine before the
 * collector runs. The native side compares the weight of what Java holds with a limit whenever it hands out a tensor. A thread that finds
 * it above asks the collector to run and waits while the cleaner frees what was found; so do the other threads that come here meanwhile,
 * for several threads make tensors faster than one frees them. If that frees too little, the limit becomes twice what is left.
 *
 * <p>{@code -XX:+DisableExplicitGC} lets the JVM ignore all that: then unclosed tensors wait until the Java heap needs a collection.
 */
public final class Memory {
    /** Never collect below this: {@code -Drushlight.pressure=<bytes>}. */
    private static final long FLOOR = Long.getLong("rushlight.pressure", 64L << 20);
    /** A cleaner that frees nothing for so long has freed everything, or waits for this thread. A busy machine may let it wait. */
    private static final long STANDSTILL_NANOS = 100_000_000L;
    /** The same where enough has been freed already. */
    private static final long SHORT_STANDSTILL_NANOS = 5_000_000L;
    /** A cleaner that is slower than this has to go on by itself. */
    private static final long LONGEST_WAIT_NANOS = 1_000_000_000L;
    /** Giving freed memory back to the system costs page faults later. */
    private static final long BETWEEN_TRIMS_NANOS = 250_000_000L;

    private static final String IGNORED = "the JVM ignores System.gc() (-XX:+DisableExplicitGC?), so that the memory of tensors that nobody"
        + " closes comes back late: close them, use Scope, or take that flag away";

    private static long limit = FLOOR;
    /** Did the collector not run although it was asked to? */
    private static volatile boolean ignored;
    /** Shall the log say so? */
    private static volatile boolean explained = Boolean.getBoolean("rushlight.leaks");
    private static boolean told;
    private static long lastTrim = System.nanoTime();

    private Memory() {}

    /** Sets the first limit. Called when the first tensor class is initialised. */
    public static void watch() {
        NativeCore.setPressureLimit(FLOOR);
        NativeCore.collectBeforeFailing();
    }

    /** Whoever looks for leaks wants to hear, once, that the collector does not run when it is asked to. */
    public static void explain(boolean on) {
        explained = on;
    }

    /** What else there is to say when memory is out. */
    public static String advice() {
        return ignored ? "; " + IGNORED : "";
    }

    /** Called by the native side before an allocation fails, which is then tried again: frees what the collector finds. */
    static synchronized void reclaim() {
        collect(0, 0);
        NativeCore.trimMemory();
    }

    /** Called by the native side when the limit is passed. */
    static synchronized void pressure() {
        if (NativeCore.weight() <= limit) {
            return;
        }
        long left = collect(limit / 2, enough());
        if (left > enough()) {
            // Other threads may have let go of more meanwhile.
            left = collect(limit / 2, enough());
            tellIfIgnored();
        }
        // It falls slowly to where it should be, and is raised at once.
        limit = left <= enough() ? Math.max(FLOOR, limit - limit / 16) : 2 * left;
        NativeCore.setPressureLimit(limit);
        trim();
    }

    /**
     * Gives what the cleaner freed back to the system. The C library keeps a heap for almost every thread that made tensors, and frees by
     * another thread leave each of them as large as it has ever been.
     */
    private static void trim() {
        long now = System.nanoTime();
        if (now - lastTrim >= BETWEEN_TRIMS_NANOS) {
            NativeCore.trimMemory();
            lastTrim = now;
        }
    }

    /** With so much left there is room again, without that the collector has to run all the time. */
    private static long enough() {
        return limit - limit / 4;
    }

    private static void tellIfIgnored() {
        if (ignored && explained && !told) {
            told = true;
            System.getLogger("org.rushlight").log(Level.WARNING, IGNORED);
        }
    }

    /** Collects, and waits for the cleaner until {@code goal} is left; patiently until {@code enough} is. Returns what is left. */
    private static long collect(long goal, long enough) {
        WeakReference<Object> canary = new WeakReference<>(new Object());
        // The JVM drops a request when a collection of young objects has just come before it.
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
