package org.rushlight.internal;

/** The hand-written native methods: everything that is not an operator. A {@code long} called tensor, token or generator is a C handle. */
public final class NativeCore {
    static {
        NativeLibrary.load();
    }

    private NativeCore() {}

    // Runtime.

    public static native String libraryVersion();

    public static native long liveHandles();

    /** Bytes in use, their maximum, and bytes obtained from the system. */
    public static native long[] memoryStats();

    public static native void resetPeakMemory();

    public static native void trimMemory();

    public static native void setCacheLimit(long bytes);

    /** Native memory held by Java: bytes of elements, plus an estimate for each handle. */
    public static native long weight();

    /** Amount of memory above which results call {@link Memory#pressure}. */
    public static native void setPressureLimit(long bytes);

    /** From now on {@link Memory#reclaim} is called before an allocation fails. */
    public static native void collectBeforeFailing();

    public static native int numThreads();

    public static native void setNumThreads(int threads);

    public static native int defaultDtype();

    public static native void setDefaultDtype(int dtype);

    public static native void setCancelled(boolean on);

    /** 0: off, 1: warn, 2: error. */
    public static native int determinism();

    public static native void setDeterminism(int determinism);

    public static native boolean fillUninitializedMemory();

    public static native void setFillUninitializedMemory(boolean on);

    // Random numbers.

    public static native void manualSeed(long seed);

    public static native long cancelTokenNew();

    public static native void cancelTokenFree(long token);

    public static native void cancelTokenCancel(long token);

    public static native void cancelTokenSetTimeout(long token, long nanoseconds);

    public static native boolean cancelTokenIsCancelled(long token);

    public static native void cancelTokenEnter(long token);

    public static native void cancelTokenLeave(long token);

    public static native long generatorNew(long seed);

    public static native long generatorDefault();

    public static native void generatorFree(long generator);

    public static native long generatorRetain(long generator);

    public static native void generatorManualSeed(long generator, long seed);

    public static native long generatorInitialSeed(long generator);

    public static native long generatorGetState(long generator);

    public static native void generatorSetState(long generator, long state);

    // Tensors: creation and release.

    public static native void free(long tensor);

    public static native long retain(long tensor);

    /** A separate tensor over the same memory. */
    public static native long alias(long tensor);

    /** A tensor over the memory of a direct buffer, which stays reachable as long as the storage exists. */
    public static native long fromBuffer(java.nio.Buffer buffer, long byteOffset, long byteLength, long[] sizes, int dtype);

    /** Copies a primitive array whose element type has the size of the dtype. */
    public static native long fromArray(Object array, long[] sizes, int dtype);

    /** Copies the elements, in row-major order, into a primitive array that is large enough for their bytes. */
    public static native void toArray(long tensor, Object array);

    /** The memory of a contiguous tensor in host memory; no other thread may replace its storage meanwhile. */
    public static native java.nio.ByteBuffer toBuffer(long tensor);

    // Tensors: metadata.

    public static native long[] sizes(long tensor);

    public static native long[] strides(long tensor);

    public static native long numel(long tensor);

    public static native int dtype(long tensor);

    public static native int device(long tensor);

    /** The code of a Layout. */
    public static native int layout(long tensor);

    public static native long nnz(long tensor);

    public static native long sparseDim(long tensor);

    public static native long qscheme(long tensor);

    public static native long denseDim(long tensor);

    public static native boolean isCoalesced(long tensor);

    public static native long storageOffset(long tensor);

    public static native boolean isContiguous(long tensor, int format);

    /** The code of a MemoryFormat. */
    public static native int suggestMemoryFormat(long tensor);

    public static native boolean isNonOverlappingAndDense(long tensor);

    public static native boolean isConj(long tensor);

    public static native boolean isNeg(long tensor);

    /** 0 if the tensor is not a view. */
    public static native long viewBase(long tensor);

    public static native boolean isView(long tensor);

    public static native boolean isAlias(long tensor, long other);

    public static native long version(long tensor);

    public static native void setData(long tensor, long other);

    /** An org.rushlight.Scalar. */
    public static native Object item(long tensor);

    // Dtypes.

    public static native int promoteTypes(int a, int b);

    public static native boolean canCast(int from, int to);

    /** Complex numbers are three arrays of their parts. */
    public static native int resultType(long[] tensors, int[] tags, long[] bits, double[] imags);

    // Autograd.

    public static native boolean requiresGrad(long tensor);

    public static native void setRequiresGrad(long tensor, boolean on);

    public static native boolean isLeaf(long tensor);

    /** 0 if there is no gradient. */
    public static native long grad(long tensor);

    /** 0 removes the gradient. */
    public static native void setGrad(long tensor, long grad);

    /** Name of the function that created the tensor, or null for a leaf. */
    public static native String gradFnName(long tensor);

    public static native void retainGrad(long tensor);

    public static native void backward(long[] outputs, long[] gradients, boolean retainGraph, boolean createGraph, long[] inputs);

    public static native long[] gradOf(
        long[] outputs, long[] inputs, long[] gradients, boolean retainGraph, boolean createGraph, boolean allowUnused);

    /** The hook is called through {@link Upcalls}. */
    public static native long registerHook(long tensor, Object hook);

    /** Removes a hook of any kind, wherever it is registered. */
    public static native void hookRemove(long hook);

    /** Frees the handle; the hook stays registered. */
    public static native void hookFree(long hook);

    public static native boolean gradEnabled();

    public static native void setGradEnabled(boolean on);

    public static native boolean inferenceMode();

    public static native void setInferenceMode(boolean on);

    /** Calls {@link Upcalls#run} below a native frame, which pins a virtual thread to its carrier meanwhile. */
    public static native void pinned(Object body);

    /** Whether such a frame, or that of another upcall, is below. */
    public static native boolean isPinned();

    public static native boolean retainsGrad(long tensor);

    public static native boolean isInference(long tensor);

    public static native void bumpVersion(long tensor);

    public static native void setAnomalyMode(boolean on, boolean checkNan);

    // The recorded graph. Callbacks are interfaces of Upcalls.

    /** A node, or 0 for a leaf. */
    public static native long gradFn(long tensor);

    public static native void nodeFree(long node);

    public static native String nodeName(long node);

    public static native long nodeSequence(long node);

    /** For each edge a node, or 0, and the index of the gradient in it. */
    public static native long[] nodeNext(long node);

    public static native long nodeRegisterHook(long node, Object hook, boolean before);

    public static native long registerPostAccumulateGradHook(long tensor, Object hook);

    public static native void pushSavedTensorHooks(Object hooks);

    public static native void popSavedTensorHooks();

    public static native boolean recordCustom(
        Object backward, String name, long[] inputs, long[] outputs, boolean[] differentiable, boolean wantsZeros, long[] saved,
        boolean[] savedOutputs);

    /** The mismatch of the derivatives, or null. */
    public static native String gradcheck(
        Object function, long[] inputs, long[] gradOutputs, boolean second, double[] numbers, boolean fastMode,
        boolean checkUndefinedGrad);

    // State dicts.

    public static native void saveStateDict(String path, String[] names, long[] tensors, int format);

    /** The indices of targets whose name no source has, and of sources whose name no target has: two long[]. */
    public static native Object[] copyState(
        String[] sourceNames, long[] sources, String[] targetNames, long[] targets, String model, boolean strict);

    /** A String[] and a long[] of equal length. */
    public static native Object[] loadStateDict(String path);

    /** The same for a file in a uint8 tensor, which no other thread may use. */
    public static native Object[] loadStateDictBytes(long bytes);

    /** A file as a uint8 tensor. */
    public static native long stateDictBytes(String[] names, long[] tensors, int format);

    // Checkpoints: files as one value, which org.rushlight.Boxed encodes.

    public static native void saveCheckpoint(String path, long[] numbers, String[] strings);

    /** A file as a uint8 tensor. */
    public static native long checkpointBytes(long[] numbers, String[] strings);

    public static native Object[] loadCheckpoint(String path);

    /** The same for a file in a uint8 tensor, which no other thread may use. */
    public static native Object[] loadCheckpointBytes(long bytes);

    // Operators by name, and operators defined at run time. org.rushlight.Boxed describes the encoding of values.

    /** The last values belong to the names in keywords. A long[] and a String[]. */
    public static native Object[] opCall(String name, String overload, long[] numbers, String[] strings, String[] keywords);

    public static native String opSchema(String name, String overload);

    public static native long opDefine(String schema);

    /** Null removes the kernel. */
    public static native void opImplement(long op, int key, Object kernel);

    /** Also frees the handle. */
    public static native void opUndefine(long op);
}
