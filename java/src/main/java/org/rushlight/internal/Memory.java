package org.rushlight.internal;

/**
 * Tells Java's collector of native memory, which it cannot see.
 *
 * <p>A wrapper of a gigabyte weighs a few dozen bytes on the Java heap, so that unclosed tensors could fill the machine before the
 * collector runs. The native side compares the weight of what Java holds with a limit whenever it hands out a tensor. A thread that finds
 * it above asks the collector to run and waits while the cleaner frees what was found; so do the other threads that come here meanwhile,
 * for several threads make tensors faster than one frees them. If that frees too little, the limit becomes twice what is left.
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

    private static long limit = FLOOR;
    private static long lastTrim = System.nanoTime();

    private Memory() {}

    /** Sets the first limit. Called when the first tensor class is initialised. */
    public static void watch() {
        NativeCore.setPressureLimit(FLOOR);
    }

    /** Called by the native side when the limit is passed. */
    static synchronized void pressure() {
        if (NativeCore.weight() <= limit) {
            return;
        }
        long left = collect();
        if (!isEnough(left)) {
            // The JVM drops the request when a collection of young objects has just come before it.
            left = collect();
        }
        // It falls slowly to where it should be, and is raised at once.
        limit = isEnough(left) ? Math.max(FLOOR, limit - limit / 16) : 2 * left;
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

    /** Is there room again, without that the collector has to run all the time? */
    private static boolean isEnough(long weight) {
        return weight <= limit - limit / 4;
    }

    /** Returns what is left. */
    private static long collect() {
        System.gc();
        boolean interrupted = false;
        long start = System.nanoTime();
        long progress = start;
        long now = start;
        long weight = NativeCore.weight();
        while (weight > limit / 2 && now - progress < (isEnough(weight) ? SHORT_STANDSTILL_NANOS : STANDSTILL_NANOS)
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
