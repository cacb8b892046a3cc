package org.rushlight;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * Every operator as a function, named as in PyTorch ({@code Torch.add(a, b)}, {@code Torch.zeros(2, 3)}), and the settings of the
 * process.
 */
public final class Torch {
    private Torch() {}

    /**
     * Sets the seed of the default generator: the same seed gives PyTorch's random numbers.
     *
     * @param seed the seed
     */
    public static void manualSeed(long seed) {
        NativeCore.manualSeed(seed);
    }

    /**
     * Returns the number of threads that an operator may use.
     *
     * @return the number
     */
    public static int getNumThreads() {
        return NativeCore.numThreads();
    }

    /**
     * Sets the number of threads that an operator may use. Results do not depend on it.
     *
     * @param threads at least 1
     */
    public static void setNumThreads(int threads) {
        NativeCore.setNumThreads(threads);
    }

    /**
     * Returns the default floating-point dtype.
     *
     * @return the dtype
     */
    public static DType getDefaultDtype() {
        return DType.of(NativeCore.defaultDtype());
    }

    /**
     * Sets the default floating-point dtype.
     *
     * @param dtype a floating-point dtype
     */
    public static void setDefaultDtype(DType dtype) {
        NativeCore.setDefaultDtype(dtype.code());
    }

    /**
     * Returns the dtype to which two dtypes are promoted.
     *
     * <pre>{@code
     * System.out.println(Torch.promoteTypes(DType.INT64, DType.FLOAT16)); // torch.float16
     * }</pre>
     *
     * @param a a dtype
     * @param b a dtype
     * @return the smallest dtype of the higher kind that holds both
     * @throws RushlightException if one is uint16, uint32 or uint64 and the other another integer dtype
     */
    public static DType promoteTypes(DType a, DType b) {
        return DType.of(NativeCore.promoteTypes(a.code(), b.code()));
    }

    /**
     * Returns whether results of one dtype may be written into tensors of another one.
     *
     * @param from dtype of the results
     * @param to dtype of the tensors
     * @return false from complex to real, from floating point to integers, and from numbers to bool
     */
    public static boolean canCast(DType from, DType to) {
        return NativeCore.canCast(from.code(), to.code());
    }

    /**
     * Returns whether gradients are recorded on this thread. See {@link NoGrad}.
     *
     * @return true unless disabled
     */
    public static boolean isGradEnabled() {
        return NativeCore.gradEnabled();
    }

    /**
     * Runs a body during which a virtual thread is pinned to its carrier, as guards such as {@link NoGrad} need it:
     * their settings belong to the native thread. The carrier runs no other virtual thread meanwhile. On a platform
     * thread the body is simply called.
     *
     * <pre>{@code
     * Torch.pinned(() -> {
     *     try (NoGrad off = new NoGrad()) {
     *         System.out.println(Torch.isGradEnabled()); // false
     *     }
     * });
     * }</pre>
     *
     * @param body the body; its exceptions propagate to the caller
     * @throws IllegalStateException if the body leaves a guard open; it is closed then
     */
    public static void pinned(Runnable body) {
        if (Guard.isVirtual(Thread.currentThread())) {
            NativeCore.pinned((Runnable) () -> Guard.balanced(body));
        } else {
            Guard.balanced(body);
        }
    }

    /**
     * {@link #pinned(Runnable)} with a result.
     *
     * @param body the body; its exceptions propagate to the caller
     * @param <T> the type of the result
     * @return the result
     * @throws IllegalStateException if the body leaves a guard open; it is closed then
     */
    public static <T extends @Nullable Object> T pinned(Supplier<T> body) {
        AtomicReference<T> result = new AtomicReference<>();
        pinned((Runnable) () -> result.set(body.get()));
        return result.get();
    }

    /**
     * Sets or clears the cancel flag: while it is set, operators of every thread throw {@link CancelledException}. A {@link
     * CancelToken} ends the calls of some threads.
     *
     * @param on true to cancel
     */
    public static void setCancelled(boolean on) {
        NativeCore.setCancelled(on);
    }

    /**
     * Returns the version of the native library.
     *
     * @return three numbers separated by dots
     */
    public static String version() {
        return NativeCore.libraryVersion();
    }

    /**
     * Returns memory statistics of the native side.
     *
     * @return counts and sizes
     */
    public static MemoryStats memoryStats() {
        long[] stats = NativeCore.memoryStats();
        return new MemoryStats(NativeCore.liveHandles(), stats[0], stats[1], stats[2]);
    }

    /** Resets {@link MemoryStats#peak} to the memory in use now. */
    public static void resetPeakMemory() {
        NativeCore.resetPeakMemory();
    }

    /** Returns cached memory of freed tensors to the system. */
    public static void trimMemory() {
        NativeCore.trimMemory();
    }

    /**
     * Sets the limit of cached memory of freed tensors. The default is an eighth of the machine's memory, at most 1
     * GiB, or the value of the environment variable {@code RUSHLIGHT_CACHE_LIMIT}.
     *
     * <pre>{@code
     * Torch.setCacheLimit(64L << 20);  // keep at most 64 MiB
     * Torch.setCacheLimit(0);          // keep nothing
     * }</pre>
     *
     * @param bytes at least 0
     */
    public static void setCacheLimit(long bytes) {
        NativeCore.setCacheLimit(bytes);
    }

    /**
     * Enables deterministic mode in the whole process. Every operator of this library is deterministic anyway, with any
     * number of threads; the mode only adds that uninitialized memory is filled ({@link #setFillUninitializedMemory}).
     *
     * @param on whether to enable it
     */
    public static void useDeterministicAlgorithms(boolean on) {
        useDeterministicAlgorithms(on, false);
    }

    /**
     * Enables deterministic mode in the whole process.
     *
     * @param on whether to enable it
     * @param warnOnly whether custom operators that are not deterministic warn instead of failing
     */
    public static void useDeterministicAlgorithms(boolean on, boolean warnOnly) {
        NativeCore.setDeterminism(!on ? 0 : warnOnly ? 1 : 2);
    }

    /**
     * Returns whether deterministic mode is enabled.
     *
     * @return true after {@link #useDeterministicAlgorithms}
     */
    public static boolean areDeterministicAlgorithmsEnabled() {
        return NativeCore.determinism() != 0;
    }

    /**
     * Returns whether operators that are not deterministic warn instead of failing.
     *
     * @return true if that was requested
     */
    public static boolean isDeterministicAlgorithmsWarnOnlyEnabled() {
        return NativeCore.determinism() == 1;
    }

    /**
     * Sets whether deterministic mode fills the elements that {@code empty} and similar functions leave uninitialized.
     *
     * @param on whether to fill them with NaN, or the largest number of an integer dtype (default true)
     */
    public static void setFillUninitializedMemory(boolean on) {
        NativeCore.setFillUninitializedMemory(on);
    }

    /**
     * Returns whether deterministic mode fills uninitialized elements.
     *
     * @return true unless disabled
     */
    public static boolean isFillUninitializedMemory() {
        return NativeCore.fillUninitializedMemory();
    }

    /**
     * Computes the gradients of outputs with respect to leaves (or only to {@code inputs}) and accumulates them in
     * their {@code grad}.
     *
     * @param outputs the tensors to differentiate
     * @param gradients one gradient per output, null for a scalar output; null if all are scalars
     * @param retainGraph whether to keep the graph for another backward
     * @param createGraph whether to record the computation of the gradients themselves (also keeps the graph)
     * @param inputs tensors for which gradients are accumulated; null for every leaf
     */
    public static void backward(
            List<Tensor> outputs, @Nullable List<@Nullable Tensor> gradients, boolean retainGraph, boolean createGraph,
            @Nullable List<Tensor> inputs) {
        Tensor[] of = outputs.toArray(Tensor[]::new);
        Tensor[] seeds = gradients == null ? null : gradients.toArray(Tensor[]::new);
        Tensor[] into = inputs == null ? null : inputs.toArray(Tensor[]::new);
        NativeOwner[] held = Tensor.concat(Tensor.concat(of, seeds), into);
        Tensor.acquire(held);
        try {
            NativeCore.backward(
                Tensor.handles(of), Tensor.handlesOrZero(seeds), retainGraph || createGraph, createGraph, Tensor.handlesOrZero(into));
        } finally {
            Tensor.release(held);
        }
    }

    /**
     * Computes and returns the gradients of outputs with respect to inputs, without changing any {@code grad}.
     *
     * @param outputs the tensors to differentiate
     * @param inputs tensors with respect to which the outputs are differentiated
     * @param gradients one gradient per output, null for a scalar output; null if all are scalars
     * @param retainGraph whether to keep the graph for another backward
     * @param createGraph whether to record the computation of the gradients themselves (also keeps the graph)
     * @param allowUnused whether to return null for an input that the outputs do not depend on, instead of throwing
     * @return one gradient per input, null only with {@code allowUnused}
     */
    public static @Nullable Tensor[] grad(
            List<Tensor> outputs, List<Tensor> inputs, @Nullable List<@Nullable Tensor> gradients, boolean retainGraph, boolean createGraph,
            boolean allowUnused) {
        Tensor[] of = outputs.toArray(Tensor[]::new);
        Tensor[] to = inputs.toArray(Tensor[]::new);
        Tensor[] seeds = gradients == null ? null : gradients.toArray(Tensor[]::new);
        NativeOwner[] held = Tensor.concat(Tensor.concat(of, to), seeds);
        Tensor.acquire(held);
        try {
            return Tensor.wrapAllNullable(NativeCore.gradOf(
                Tensor.handles(of), Tensor.handles(to), Tensor.handlesOrZero(seeds), retainGraph || createGraph, createGraph, allowUnused));
        } finally {
            Tensor.release(held);
        }
    }

    /**
     * Computes and returns the gradients of one scalar with respect to inputs.
     *
     * @param output the tensor to differentiate
     * @param inputs tensors with respect to which the outputs are differentiated
     * @return one gradient per input
     */
    public static Tensor[] grad(Tensor output, Tensor... inputs) {
        return grad(List.of(output), List.of(inputs), null, false, false, false);
    }
}
