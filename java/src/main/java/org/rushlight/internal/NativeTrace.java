package org.rushlight.internal;

/**
 * The native methods for tracing, and for saving modules of TorchScript. A {@code long} called trace, module or tensor is a
 * handle; org.rushlight.Boxed describes the encoding of values.
 */
public final class NativeTrace {
    static {
        NativeLibrary.load();
    }

    private NativeTrace() {}

    public static native long begin(String className, boolean training);

    public static native void free(long trace);

    public static native void module(long trace, String path, String className, boolean training);

    public static native void attribute(long trace, String path, long tensor, boolean buffer);

    public static native void input(long trace, String name, long[] numbers, String[] strings);

    public static native void output(long trace, long[] numbers, String[] strings);

    /** The other trace may be 0. A module. */
    public static native long finish(long trace, long other, boolean check);

    public static native void save(long module, String path);

    public static native byte[] saveBytes(long module);
}
