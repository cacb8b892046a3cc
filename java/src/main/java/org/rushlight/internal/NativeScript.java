package org.rushlight.internal;

/**
 * The native methods for modules of TorchScript. A {@code long} called module is a handle; org.rushlight.Boxed describes
 * the encoding of values.
 */
public final class NativeScript {
    static {
        NativeLibrary.load();
    }

    private NativeScript() {}

    public static native long load(String path);

    public static native long loadBytes(byte[] file);

    public static native long copy(long module);

    public static native void free(long module);

    /** Null if the archive has no extra file of this name. */
    public static native byte[] extraFile(long module, String name);

    /** The last values belong to the names in keywords. A long[] and a String[]. */
    public static native Object[] run(long module, String method, long[] numbers, String[] strings, String[] keywords);

    /** The module with forward and these methods, compiled with weights in the dtype of this code. */
    public static native long compile(long module, String[] methods, int weights);

    /** Empty if the method is not compiled. */
    public static native String plan(long module, String method);

    /** As run: a call that goes on step by step. */
    public static native long begin(long module, String method, long[] numbers, String[] strings, String[] keywords);

    /** Whether the call is done. */
    public static native boolean step(long run, long nanoseconds);

    /** -1 if it is not known. */
    public static native double progress(long run);

    /** One value. */
    public static native Object[] result(long run);

    public static native void freeRun(long run);

    /** A {@code Consumer<String>}; null discards what methods print. */
    public static native void setPrint(long module, Object consumer);

    /** One list of strings. */
    public static native Object[] methods(long module);

    public static native String schema(long module, String method);

    public static native String graph(long module, String method);

    public static native String className(long module);

    /** One value. */
    public static native Object[] attribute(long module, String name);

    public static native void setAttribute(long module, String name, long[] numbers, String[] strings);

    /** One list of strings. */
    public static native Object[] children(long module);

    public static native long child(long module, String name);

    /** A String[] and a long[] of equal length. */
    public static native Object[] tensors(long module, boolean buffers);

    public static native void train(long module, boolean on);

    /** Negative numbers leave the device or the dtype. */
    public static native void to(long module, int device, int dtype);
}
