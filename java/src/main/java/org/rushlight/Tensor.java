package org.rushlight;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.Identity;
import org.rushlight.internal.Memory;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * PyTorch's tensor, with its operators as methods under PyTorch's names ({@code a.add(b)}, {@code a.logSoftmax(1)}).
 *
 * <p>Memory. A tensor holds native memory. It is freed by {@link #close}, by the {@link Scope} in which it was created,
 * or at the latest when the garbage collector finds it unreachable. Any use of a closed tensor throws {@link
 * IllegalStateException}; closing one that another thread is computing with is safe: the memory is freed when that call
 * ends. Two {@code Tensor} objects may refer to the same native tensor (as the results of {@link #grad} do); each holds
 * its own reference.
 *
 * <pre>{@code
 * try (Scope scope = new Scope()) {
 *     Tensor w = Tensor.of(1f, 2f, 3f).requiresGrad_(true);
 *     w.mul(w).sum().backward();
 *     System.out.println(w.grad()); // tensor([2., 4., 6.])
 * }
 * }</pre>
 */
public final class Tensor extends TensorValues implements AutoCloseable {
    static {
        Memory.watch();
        Identity.install(tensor -> ((Tensor) tensor).isClosed() ? null : ((Tensor) tensor).handle());
    }

    /** Links of the scope that holds this tensor. Only the thread of the scope accesses them. */
    @Nullable Scope scope;
    @Nullable Tensor older;
    @Nullable Tensor newer;

    private final LeakDetector.@Nullable Traced traced;
    private @Nullable String name;

    private Tensor(long handle, Runnable release, LeakDetector.@Nullable Traced traced) {
        super(handle, traced != null ? traced : release);
        this.traced = traced;
    }

    /** The cleaner's action. It must not refer to the tensor. */
    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeCore.free(handle);
        }
    }

    // Support for operators.

    /** Wraps an owned handle as a tensor in the innermost scope. */
    static Tensor wrap(long handle) {
        Tensor tensor;
        try {
            Release release = new Release(handle);
            tensor = new Tensor(handle, release, LeakDetector.trace(release));
        } catch (Throwable e) { // Out of memory, or of stack: nothing else frees the handle.
            NativeCore.free(handle);
            throw e;
        }
        Scope.join(tensor);
        return tensor;
    }

    /** Like {@link #wrap}, but 0 becomes null. */
    static @Nullable Tensor wrapNullable(long handle) {
        return handle == 0 ? null : wrap(handle);
    }

    static @Nullable Tensor[] wrapAllNullable(long[] handles) {
        int wrapped = 0;
        try {
            @Nullable Tensor[] tensors = new Tensor[handles.length];
            while (wrapped < handles.length) {
                // The handle is wrapped or freed from here on.
                tensors[wrapped] = wrapNullable(handles[wrapped++]);
            }
            return tensors;
        } catch (Throwable e) {
            for (; wrapped < handles.length; wrapped++) {
                if (handles[wrapped] != 0) {
                    NativeCore.free(handles[wrapped]);
                }
            }
            throw e;
        }
    }

    /** Like {@link #wrapAllNullable}, for handles without 0. */
    static Tensor[] wrapAll(long[] handles) {
        return wrapAllNullable(handles);
    }

    static long[] handles(Tensor[] tensors) {
        int missing = Arrays.asList(tensors).indexOf(null);
        if (missing >= 0) {
            throw new NullPointerException("tensor " + missing + " of " + tensors.length + " is null");
        }
        long[] handles = new long[tensors.length];
        for (int i = 0; i < tensors.length; i++) {
            handles[i] = tensors[i].handle();
        }
        return handles;
    }

    /** Returns null for null, and 0 for a null element. */
    static long @Nullable [] handlesOrZero(@Nullable Tensor @Nullable [] tensors) {
        if (tensors == null) {
            return null;
        }
        long[] handles = new long[tensors.length];
        for (int i = 0; i < tensors.length; i++) {
            handles[i] = handleOrZero(tensors[i]);
        }
        return handles;
    }

    // Lifetime.

    /** Frees the native tensor, unless others share it. Closing twice is allowed. */
    @Override
    public void close() {
        super.close();
    }

    @Override
    void closing() {
        if (traced != null) {
            traced.close();
        }
        Scope of = scope;
        if (of != null) {
            of.remove(this);
        }
    }

    /**
     * Returns whether this tensor was closed.
     *
     * @return true after {@link #close}
     */
    public boolean isClosed() {
        return closed();
    }

    /**
     * Removes this tensor from its scope, so that it outlives every scope: close it explicitly, or leave it to the
     * garbage collector.
     *
     * @return this tensor
     */
    public Tensor unscoped() {
        checkOpen();
        Scope of = scope;
        if (of != null) {
            of.remove(this);
            if (scope != null) {
                throw new IllegalStateException(label() + " belongs to a scope of another thread");
            }
        }
        return this;
    }

    /**
     * Adds a tensor that belongs to no scope, for example one created by another thread, to the innermost scope of this
     * thread: the counterpart of {@link #unscoped}.
     *
     * @return this tensor
     */
    public Tensor scoped() {
        checkOpen();
        if (scope != null) {
            throw new IllegalStateException(label() + " belongs to a scope already");
        }
        Scope.join(this);
        return this;
    }

    /**
     * Returns another owner of the same native tensor, in the innermost scope. Neither close affects the other.
     *
     * @return the second owner
     */
    public Tensor share() {
        acquire(this);
        try {
            return wrap(NativeCore.retain(handle()));
        } finally {
            release(this);
        }
    }

    /**
     * Names this tensor in messages, as a module names its parameters.
     *
     * @param name a name
     * @return this tensor
     */
    public Tensor named(String name) {
        checkOpen();
        this.name = name;
        return this;
    }

    @Override
    String label() {
        return name == null ? "Tensor@" + Integer.toHexString(System.identityHashCode(this)) : "Tensor '" + name + "'";
    }

    /**
     * Replaces elements, dtype and shape of this tensor by those of another one. Its gradient and its identity stay.
     *
     * @param other a tensor; the two share its elements
     */
    public void setData(Tensor other) {
        acquire(this, other);
        try {
            NativeCore.setData(handle(), other.handle());
        } finally {
            release(this, other);
        }
    }

    /**
     * Returns the elements themselves, without a copy, in native byte order: both sides see each other's writes. The
     * memory lives as long as the buffer or a slice of it is reachable, also after {@link #close}. It is the memory
     * that the tensor has now: if the tensor later gets other memory ({@link #setData}, {@code resize_} to a larger
     * size, {@code Module.to}), the two no longer share it.
     *
     * @return a direct buffer over a contiguous tensor in host memory
     */
    public ByteBuffer toBuffer() {
        long alias;
        acquire(this);
        try {
            alias = NativeCore.alias(handle());
        } finally {
            release(this);
        }
        // The buffer owns the alias, so that the memory outlives this tensor.
        Release release = new Release(alias);
        try {
            ByteBuffer buffer = NativeCore.toBuffer(alias).order(ByteOrder.nativeOrder());
            CLEANER.register(buffer, release);
            return buffer;
        } catch (RuntimeException e) {
            release.run();
            throw e;
        }
    }

    /**
     * Computes the variance of all elements: an alias of {@code var}, which is a Kotlin keyword.
     *
     * @return scalar tensor
     */
    public Tensor variance() {
        return var();
    }

    /**
     * Computes the variance along dimensions: an alias of {@code var}, which is a Kotlin keyword.
     *
     * @param dim dimensions, or null for all
     * @param correction difference between the number of elements and the degrees of freedom, or null for 1
     * @param keepdim whether to keep the reduced dimensions with size 1
     * @return the variances
     */
    public Tensor variance(long @Nullable [] dim, @Nullable Number correction, boolean keepdim) {
        return var(dim, correction, keepdim);
    }

    // Creation from values.

    /**
     * Creates a 0-dim tensor: int64 for an integer (uint64 for one above {@link Long#MAX_VALUE}), bool for a boolean,
     * the default dtype for a real number and the corresponding complex dtype for a complex one.
     *
     * @param value the number
     * @return the tensor
     */
    public static Tensor scalar(Number value) {
        Scalar scalar = Scalar.of(value);
        if (scalar.isBoolean()) {
            return of(new boolean[] {scalar.booleanValue()}, new long[0]);
        }
        if (scalar.isAboveLong()) {
            return Torch.full(new long[0], scalar, TensorOptions.of(DType.UINT64));
        }
        if (scalar.isIntegral()) {
            return of(new long[] {scalar.longValue()}, new long[0]);
        }
        return Torch.full(new long[0], scalar);
    }

    /**
     * Creates a one-dimensional float32 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(float... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates a float32 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(float[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.FLOAT32.code()));
    }

    /**
     * Creates a one-dimensional float64 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(double... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates a float64 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(double[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.FLOAT64.code()));
    }

    /**
     * Creates a one-dimensional int32 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(int... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates an int32 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(int[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.INT32.code()));
    }

    /**
     * Creates a one-dimensional int64 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(long... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates an int64 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(long[] values, long[] shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.INT64.code()));
    }

    /**
     * Creates a one-dimensional bool tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(boolean... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates a bool tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(boolean[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.BOOL.code()));
    }

    /**
     * Creates a uint8 tensor, for example of an image. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor ofBytes(byte[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.UINT8.code()));
    }

    /**
     * Creates a tensor from nested arrays of any depth ({@code double[][]}, {@code long[][][]}), with the dtype of the
     * innermost arrays: {@code byte} is uint8, {@code short} is int16. The values are copied.
     *
     * <pre>{@code
     * Tensor m = Tensor.of(new double[][] {{1, 2, 3}, {4, 5, 6}});
     * System.out.println(m.dtype() + " " + m.size(1)); // torch.float64 3
     * }</pre>
     *
     * @param nested nested arrays; arrays at the same depth have equal lengths
     * @return the tensor
     * @throws TensorTypeException if the innermost elements are not Java numbers or booleans
     * @throws TensorValueException if lengths differ, or an array is missing
     */
    public static Tensor of(Object[] nested) {
        return NestedArrays.tensor(nested);
    }

    /**
     * Creates a complex128 tensor. The values are copied. {@link Tensor#toComplexArray} is the inverse.
     *
     * <pre>{@code
     * System.out.println(Tensor.ofComplex(new double[] {1, 2, 3, -4}, 2)); // tensor([1.+2.j, 3.-4.j], dtype=torch.complex128)
     * }</pre>
     *
     * @param parts real and imaginary part of each element, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor ofComplex(double[] parts, long... shape) {
        long[] ofParts = Arrays.copyOf(shape, shape.length + 1);
        ofParts[shape.length] = 2;
        try (Tensor pairs = of(parts, ofParts)) {
            return Torch.viewAsComplex(pairs);
        }
    }

    /**
     * Creates a tensor over the memory of a direct buffer: no copy, both sides see each other's writes. The buffer
     * stays reachable as long as the tensor or a view of it exists. The elements begin at the position of the buffer,
     * in native byte order. Do not free the memory under a reachable buffer (by closing the {@code Arena} of a memory
     * segment, or truncating a mapped file) before the tensor and its views are closed.
     *
     * @param buffer a direct buffer
     * @param dtype element type
     * @param shape size of each dimension
     * @return the tensor
     * @throws TensorValueException if the buffer is not direct, is read-only, is a typed view of another byte order, or
     *     does not begin at a multiple of the size of an element
     */
    public static Tensor fromBuffer(Buffer buffer, DType dtype, long... shape) {
        if (!buffer.isDirect()) {
            throw new TensorValueException("fromBuffer needs a direct buffer; Tensor.of copies arrays");
        }
        if (buffer.isReadOnly()) {
            throw new TensorValueException(
                "fromBuffer needs a buffer that can be written, as every tensor can; copy the read-only one into one of ByteBuffer.allocateDirect");
        }
        ByteOrder order = order(buffer);
        if (order != ByteOrder.nativeOrder()) {
            throw new TensorValueException("fromBuffer: the elements of the " + buffer.getClass().getSuperclass().getSimpleName() + " are "
                + order + ", those of tensors " + ByteOrder.nativeOrder()
                + "; call order(ByteOrder.nativeOrder()) of the ByteBuffer before it is viewed, or copy the elements");
        }
        int unit = buffer instanceof ByteBuffer ? 1
            : buffer instanceof ShortBuffer || buffer instanceof CharBuffer ? 2
            : buffer instanceof IntBuffer || buffer instanceof FloatBuffer ? 4
            : 8;
        long offset = (long) buffer.position() * unit;
        return Tensor.wrap(NativeCore.fromBuffer(buffer, offset, (long) buffer.remaining() * unit, shape, dtype.code()));
    }

    /**
     * The byte order of the elements of a typed view. A byte buffer has none: its order only affects {@code getInt} and
     * similar methods.
     */
    private static ByteOrder order(Buffer buffer) {
        if (buffer instanceof ShortBuffer view) {
            return view.order();
        }
        if (buffer instanceof CharBuffer view) {
            return view.order();
        }
        if (buffer instanceof IntBuffer view) {
            return view.order();
        }
        if (buffer instanceof FloatBuffer view) {
            return view.order();
        }
        if (buffer instanceof LongBuffer view) {
            return view.order();
        }
        if (buffer instanceof DoubleBuffer view) {
            return view.order();
        }
        return ByteOrder.nativeOrder();
    }

    // Indexing.

    /**
     * Returns a part of this tensor: {@code t.get(Index.at(1), Index.slice(2, 5), Index.ELLIPSIS)} is {@code t[1, 2:5,
     * ...]}.
     *
     * @param entries one per dimension; missing ones select whole dimensions
     * @return a view; with a tensor or a boolean among the entries, a copy
     * @throws TensorIndexException if an entry is out of range, or there are too many
     */
    public Tensor get(Index... entries) {
        checkOpen();
        return Indexing.get(this, entries);
    }

    /**
     * Returns the part at a position of the leading dimensions: {@code t.get(1, 2)} is {@code t[1, 2]}.
     *
     * @param positions one per leading dimension; negative counts from the end
     * @return the view
     */
    public Tensor get(long... positions) {
        checkOpen();
        return Indexing.get(this, Arrays.stream(positions).mapToObj(Index::at).toArray(Index[]::new));
    }

    /**
     * Writes into part of this tensor: {@code t.set(v, Index.at(1))} is {@code t[1] = v}.
     *
     * @param value what to write, broadcast to the part; of this tensor's dtype if a tensor or a boolean is among
     *     the entries
     * @param entries as in {@link #get(Index...)}
     * @return this tensor
     * @throws TensorIndexException if an entry is out of range, or there are too many
     */
    public Tensor set(Tensor value, Index... entries) {
        checkOpen();
        Indexing.set(this, value, entries);
        return this;
    }

    /**
     * Writes a number into part of this tensor: {@code t.set(0, Index.at(mask), Index.slice(1, 3))} is {@code t[mask,
     * 1:3] = 0}.
     *
     * @param value what to write everywhere
     * @param entries as in {@link #get(Index...)}
     * @return this tensor
     * @throws TensorIndexException if an entry is out of range, or there are too many
     */
    public Tensor set(Number value, Index... entries) {
        checkOpen();
        Indexing.set(this, value, entries);
        return this;
    }

    /**
     * A registered hook. It stays registered if the garbage collector frees this object. It can be removed after its
     * tensor or node is closed, as long as a graph or another reference to the tensor would run it.
     */
    public static final class Hook extends NativeOwner {
        Hook(long handle) {
            super(handle, new Free(handle));
        }

        private record Free(long handle) implements Runnable {
            @Override
            public void run() {
                NativeCore.hookFree(handle);
            }
        }

        @Override
        String label() {
            return "the hook";
        }

        @Override
        void closing() {
            NativeCore.hookRemove(handle());
        }

        /** Removes the hook. Closing twice is allowed. */
        @Override
        public void close() {
            super.close();
        }
    }

    // Callbacks from the native side.

    /** A function of tensors that the native side calls. */
    interface OfTensors {
        @Nullable Tensor @Nullable [] call(@Nullable Tensor[] first, @Nullable Tensor[] second, boolean[] flags);
    }

    /** Calls the function with handles. Its tensors, and those that it creates, are closed when it returns. */
    @SuppressWarnings("try")
    static Upcalls.OfTensors upcall(OfTensors function) {
        return (first, second, flags) -> {
            try (Scope scope = new Scope()) {
                @Nullable Tensor[] results = function.call(wrapAllNullable(first), wrapAllNullable(second), flags);
                return results == null ? null : retained(results.clone());
            }
        };
    }

    /** Returns an additional reference for the native side; 0 for null. */
    static long retained(@Nullable Tensor tensor) {
        acquire(tensor);
        try {
            return tensor == null ? 0 : NativeCore.retain(tensor.handle());
        } finally {
            release(tensor);
        }
    }

    /** Returns additional references for the native side for all of them or, if one is closed, for none. */
    private static long[] retained(@Nullable Tensor[] tensors) {
        acquire(tensors);
        try {
            return Arrays.stream(tensors).mapToLong(Tensor::retained).toArray();
        } finally {
            release(tensors);
        }
    }

    /** Returns PyTorch's string: {@code tensor([1., 2.])}; that of a closed tensor, or of one whose elements cannot be read, says so. */
    @Override
    public String toString() {
        try {
            return TensorFormat.format(this);
        } catch (RuntimeException e) { // Loggers and debuggers call this.
            return isClosed() ? "tensor(closed)" : "tensor(" + e.getMessage() + ")";
        }
    }
}
