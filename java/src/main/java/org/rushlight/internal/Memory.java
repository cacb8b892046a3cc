package org.rushlight.internal;

/**
 * Tells Java's collector of native memory, which it cannot see.
 *
 * <p>A wrapper of a gigabyte weighs a few dozen bytes on the Java heap, so that unclosed tensors could fill the machine before the
 * collector runs. The native side compares the weight of what Java holds with a limit whenever it hands out a tensor; above it, the
 * collector is asked to run, cleaners get a moment to free what was found, and the limit moves to twice what is really in use.
 */
public final class Memory {
    /** Never collect below this: {@code -Drushlight.pressure=<bytes>}. */
    private static final long FLOOR = Long.getLong("rushlight.pressure", 64L << 20);
    /** A collection that frees more slowly than this has to go on by itself. */
    private static final long LONGEST_WAIT_NANOS = 500_000_000L;

    private Memory() {}

    /** Sets the first limit. Called when the first tensor class is initialised. */
    public static void watch() {
        NativeCore.setPressureLimit(FLOOR);
    }

    /**
     * Called by the native side when the limit is passed.
     *
     * @param weight bytes of elements, and an estimate for each handle
     */
    static void pressure(long weight) {
        // The native side has switched the watch off; until it is on again no other thread comes here.
        System.gc();
        long now = weight;
        long end = System.nanoTime() + LONGEST_WAIT_NANOS;
        // Cleaners free what was found one by one: wait as long as they get on.
        for (int idle = 0; idle < 10 && System.nanoTime() < end;) {
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
            long before = now;
            now = NativeCore.weight();
            idle = now < before ? 0 : idle + 1;
        }
        NativeCore.setPressureLimit(Math.max(FLOOR, 2 * now));
    }
}
