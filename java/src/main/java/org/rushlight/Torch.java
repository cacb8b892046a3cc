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
public final class Torch extends TorchFunctions {
    private Torch() {}

    /**
     * Starts the default stream of random numbers: the same seed gives PyTorch's numbers.
     *
     * @param seed where the stream starts
     */
    public static void manualSeed(long seed) {
        NativeCore.manualSeed(seed);
    }

    /**
     * The number of threads an operator may use.
     *
     * @return the number
     */
    public static int getNumThreads() {
        return NativeCore.numThreads();
    }

    /**
     * Sets the number of threads an operator may use. Results do not depend on it.
     *
     * @param threads at least 1
     */
    public static void setNumThreads(int threads) {
        NativeCore.setNumThreads(threads);
    }

    /**
     * The dtype of floating-point tensors made without one.
     *
     * @return the dtype
     */
    public static DType getDefaultDtype() {
        return DType.of(NativeCore.defaultDtype());
    }

    /**
     * Sets the dtype of floating-point tensors made without one.
     *
     * @param dtype a floating-point dtype
     */
    public static void setDefaultDtype(DType dtype) {
        NativeCore.setDefaultDtype(dtype.code());
    }

    /**
     * The dtype that two dtypes are brought to.
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
     * May results of one dtype be written into tensors of another one?
     *
     * @param from dtype of the results
     * @param to dtype of the tensors
     * @return false from complex to real, from floating point to integers, and from numbers to bool
     */
    public static boolean canCast(DType from, DType to) {
        return NativeCore.canCast(from.code(), to.code());
    }

    /**
     * The dtype of the result of arithmetic with two tensors.
     *
     * @param a a tensor
     * @param b a tensor
     * @return the dtype that both are brought to
     */
    public static DType resultType(Tensor a, Tensor b) {
        return resultType(new Tensor[] {a, b});
    }

    /**
     * The dtype of the result of arithmetic with a tensor and a number.
     *
     * <pre>{@code
     * System.out.println(Torch.resultType(Tensor.of(1L, 2L), 0.5)); // torch.float32
     * }</pre>
     *
     * @param a a tensor
     * @param b a number
     * @return the dtype that both are brought to
     */
    public static DType resultType(Tensor a, Number b) {
        return resultType(new Tensor[] {a}, b);
    }

    /**
     * The dtype of the result of arithmetic with a number and a tensor.
     *
     * @param a a number
     * @param b a tensor
     * @return the dtype that both are brought to
     */
    public static DType resultType(Number a, Tensor b) {
        return resultType(b, a);
    }

    /**
     * The dtype of the result of arithmetic with two numbers.
     *
     * @param a a number
     * @param b a number
     * @return the dtype that both are brought to
     */
    public static DType resultType(Number a, Number b) {
        return resultType(new Tensor[0], a, b);
    }

    private static DType resultType(Tensor[] tensors, Number... numbers) {
        Tensor.acquire(tensors);
        try {
            return DType.of(NativeCore.resultType(
                Tensor.handles(tensors), Scalar.tags(numbers), Scalar.bits(numbers), Scalar.imags(numbers)));
        } finally {
            Tensor.release(tensors);
        }
    }

    /**
     * The same as {@link Tensor#equal}.
     *
     * @param self a tensor
     * @param other another tensor
     * @return the same sizes and the same numbers?
     */
    public static boolean equal(Tensor self, Tensor other) {
        return self.equal(other);
    }

    /**
     * The same as {@link Tensor#allclose(Tensor)}.
     *
     * @param self a tensor
     * @param other another tensor
     * @return are all numbers near those of the other tensor?
     */
    public static boolean allclose(Tensor self, Tensor other) {
        return self.allclose(other);
    }

    /**
     * The same as {@link Tensor#allclose(Tensor, double, double, boolean)}.
     *
     * @param self a tensor
     * @param other another tensor
     * @param rtol what is allowed for each unit of the other number
     * @param atol what is allowed in any case
     * @param equalNan does NaN equal NaN?
     * @return are all numbers near those of the other tensor?
     */
    public static boolean allclose(Tensor self, Tensor other, double rtol, double atol, boolean equalNan) {
        return self.allclose(other, rtol, atol, equalNan);
    }

    /**
     * The same as {@link Torch#mvlgamma}, under the name it has among the special functions.
     *
     * @param self a tensor
     * @param p number of dimensions
     * @return the logarithm of the multivariate gamma function of each element
     */
    public static Tensor special_multigammaln(Tensor self, long p) {
        return mvlgamma(self, p);
    }

    /**
     * Are gradients recorded on this thread? See {@link NoGrad}.
     *
     * @return true unless switched off
     */
    public static boolean isGradEnabled() {
        return NativeCore.gradEnabled();
    }

    /**
     * Runs a body during which a virtual thread stays with its carrier, as guards such as {@link NoGrad} need it: their settings are those
     * of the native thread. The carrier serves no other virtual thread meanwhile. On a platform thread the body is just called.
     *
     * <pre>{@code
     * Torch.pinned(() -> {
     *     try (NoGrad off = new NoGrad()) {
     *         System.out.println(Torch.isGradEnabled()); // false
     *     }
     * });
     * }</pre>
     *
     * @param body what it throws goes on to the caller
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
     * @param body what it throws goes on to the caller
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
     * Sets or clears the cancel flag: while it is set, operators of every thread throw {@link CancelledException}.
     *
     * @param on true to cancel
     */
    public static void setCancelled(boolean on) {
        NativeCore.setCancelled(on);
    }

    /**
     * Version of the native library.
     *
     * @return three numbers with dots
     */
    public static String version() {
        return NativeCore.libraryVersion();
    }

    /**
     * What the native side holds now.
     *
     * @return counts and sizes
     */
    public static MemoryStats memoryStats() {
        long[] stats = NativeCore.memoryStats();
        return new MemoryStats(NativeCore.liveHandles(), stats[0], stats[1], stats[2]);
    }

    /** Lets {@link MemoryStats#peak} start again from what is in use now. */
    public static void resetPeakMemory() {
        NativeCore.resetPeakMemory();
    }

    /** Gives the memory of closed tensors, which is kept for the next ones, back to the system. */
    public static void trimMemory() {
        NativeCore.trimMemory();
    }

    /**
     * Sets how much memory of closed tensors is kept for the next ones. It starts with an eighth of the machine's memory, at most 1 GiB,
     * or what the environment variable {@code RUSHLIGHT_CACHE_LIMIT} says.
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
     * Asks for the same bits in every run, in the whole process. Every operator of this library gives them anyway, on any number of
     * threads; what changes is memory that nobody has written ({@link #setFillUninitializedMemory}).
     *
     * @param on ask for it?
     */
    public static void useDeterministicAlgorithms(boolean on) {
        useDeterministicAlgorithms(on, false);
    }

    /**
     * Asks for the same bits in every run, in the whole process.
     *
     * @param on ask for it?
     * @param warnOnly shall operators of the program that cannot give them warn, instead of failing?
     */
    public static void useDeterministicAlgorithms(boolean on, boolean warnOnly) {
        NativeCore.setDeterminism(!on ? 0 : warnOnly ? 1 : 2);
    }

    /**
     * Are the same bits asked for in every run?
     *
     * @return true after {@link #useDeterministicAlgorithms}
     */
    public static boolean areDeterministicAlgorithmsEnabled() {
        return NativeCore.determinism() != 0;
    }

    /**
     * Shall operators that cannot give the same bits warn, instead of failing?
     *
     * @return true if that was asked for
     */
    public static boolean isDeterministicAlgorithmsWarnOnlyEnabled() {
        return NativeCore.determinism() == 1;
    }

    /**
     * Where the same bits are asked for, fills the elements that {@code empty} and its kin would leave unset.
     *
     * @param on with NaN or the largest number of an integer dtype (the default), or not
     */
    public static void setFillUninitializedMemory(boolean on) {
        NativeCore.setFillUninitializedMemory(on);
    }

    /**
     * Are unset elements filled where the same bits are asked for?
     *
     * @return true unless switched off
     */
    public static boolean isFillUninitializedMemory() {
        return NativeCore.fillUninitializedMemory();
    }

    /**
     * Computes the gradients of outputs with regard to leaves (or to {@code inputs} alone) and adds them to their {@code grad}.
     *
     * @param outputs what is differentiated
     * @param gradients one per output, null where the output is a scalar; null: all of them are
     * @param retainGraph keep the graph for another call
     * @param createGraph record the computation of the gradients themselves (keeps the graph, too)
     * @param inputs collect gradients for these tensors only; null: for every leaf
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
     * Computes the gradients of outputs with regard to inputs and returns them, leaving every {@code grad} alone.
     *
     * @param outputs what is differentiated
     * @param inputs with regard to what
     * @param gradients one per output, null where the output is a scalar; null: all of them are
     * @param retainGraph keep the graph for another call
     * @param createGraph record the computation of the gradients themselves (keeps the graph, too)
     * @param allowUnused return null for an input that the outputs do not depend on, instead of throwing
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
     * Computes the gradients of one scalar with regard to inputs and returns them.
     *
     * @param output what is differentiated
     * @param inputs with regard to what
     * @return one gradient per input
     */
    public static Tensor[] grad(Tensor output, Tensor... inputs) {
        return grad(List.of(output), List.of(inputs), null, false, false, false);
    }
}
