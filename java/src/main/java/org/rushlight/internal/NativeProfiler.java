package org.rushlight.internal;

/** The native methods of the profiler. A {@code long} called profile or range is a handle. */
public final class NativeProfiler {
    static {
        NativeLibrary.load();
    }

    private NativeProfiler() {}

    public static native void start(boolean shapes, boolean memory, boolean thisThread);

    /** A profile. */
    public static native long stop();

    public static native void free(long profile);

    public static native boolean isEnabled();

    /** {@code rows}: the most rows; -1: all. */
    public static native String table(long profile, String sortBy, int rows, boolean byShape);

    public static native void chromeTrace(long profile, String path);

    public static native String[] names(long profile);

    /**
     * The numbers of all events. An event is its name (an index into {@link #names}), scope, depth, parent, thread, forward
     * thread, sequence number, start, duration, own duration, bytes allocated, freed and own bytes, and its number of inputs;
     * then follows each input: argument, dtype or -1, number of sizes, sizes.
     */
    public static native long[] events(long profile);

    /** A range, or 0 if nothing observes it. */
    public static native long begin(String name);

    public static native void end(long range);
}
