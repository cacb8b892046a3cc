package org.rushlight;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.Identity;
import org.rushlight.internal.Memory;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * A tensor: PyTorch's, with its operators as methods named as in PyTorch ({@code a.add(b)}, {@code a.log_softmax(1)}).
 *
 * <p>Memory. A tensor holds native memory. It is freed by {@link #close}, by the {@link Scope} it was made in, or at the latest when the
 * collector finds it unreachable. Any use of a closed tensor throws {@link IllegalStateException}; closing one that another thread is
 * computing with is safe: the memory goes when that call ends. Two {@code Tensor} objects may stand for the same native tensor (as
 * {@link #grad} returns); each has its own share in it.
 *
 * <pre>{@code
 * try (Scope scope = new Scope()) {
 *     Tensor w = Tensor.of(1f, 2f, 3f).requires_grad_(true);
 *     w.mul(w).sum().backward();
 *     System.out.println(w.grad()); // tensor([2., 4., 6.])
 * }
 * }</pre>
 */
public final class Tensor extends TensorFactories implements AutoCloseable {
    static {
        Memory.watch();
        Identity.install(tensor -> ((Tensor) tensor).isClosed() ? null : ((Tensor) tensor).handle());
    }

    /** Links of the scope that holds this tensor. Only the thread of the scope touches them. */
    @Nullable Scope scope;
    @Nullable Tensor older;
    @Nullable Tensor newer;

    private final LeakDetector.@Nullable Traced traced;
    private @Nullable String name;

    private Tensor(long handle, Runnable release, LeakDetector.@Nullable Traced traced) {
        super(handle, traced != null ? traced : release);
        this.traced = traced;
    }

    /** What the cleaner runs. It must not refer to the tensor. */
    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeCore.free(handle);
        }
    }

    // What operators need.

    /** A tensor that owns a handle, in the innermost scope. */
    static Tensor wrap(long handle) {
        Release release = new Release(handle);
        Tensor tensor = new Tensor(handle, release, LeakDetector.trace(release));
        Scope.join(tensor);
        return tensor;
    }

    /** As {@link #wrap}; 0 becomes null. */
    static @Nullable Tensor wrapNullable(long handle) {
        return handle == 0 ? null : wrap(handle);
    }

    static @Nullable Tensor[] wrapAllNullable(long[] handles) {
        @Nullable Tensor[] tensors = new Tensor[handles.length];
        for (int i = 0; i < handles.length; i++) {
            tensors[i] = wrapNullable(handles[i]);
        }
        return tensors;
    }

    /** As {@link #wrapAllNullable}, of what has no 0. */
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

    /** Null for null; 0 for a null element. */
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

    // Life.

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
     * Was this tensor closed?
     *
     * @return true after {@link #close}
     */
    public boolean isClosed() {
        return closed();
    }

    /**
     * Takes this tensor out of its scope, so that it outlives every scope: the owner closes it, or the collector finds it.
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
     * Lets a tensor that belongs to no scope join the innermost scope of this thread: the counterpart of {@link #unscoped}, as for what
     * another thread has made.
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
     * Another owner of the same native tensor, in the innermost scope. Neither close affects the other.
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
     * Lets this tensor have the elements, dtype and shape of another one. Its gradient and its identity stay.
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
     * The elements themselves, without a copy, in native byte order: both sides see each other's writes. The memory lives as long as
     * the buffer or a slice of it is reachable, also after {@link #close}. It is the memory that the tensor has now: a tensor that is given
     * other memory later ({@link #setData}, {@code resize_} to a larger size, {@code Module.to}) and the buffer do not see each other any more.
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
        // The alias is the buffer's own: whatever becomes of this tensor, its memory stays.
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
     * The variance of all elements: {@code var}, whose name is a word of Kotlin.
     *
     * @return a scalar
     */
    public Tensor variance() {
        return var();
    }

    /**
     * The variance along dimensions: {@code var}, whose name is a word of Kotlin.
     *
     * @param dim dimensions, or null for all
     * @param correction what is taken off the number of elements, or null for 1
     * @param keepdim keep the dimensions with size 1
     * @return the variances
     */
    public Tensor variance(long @Nullable [] dim, @Nullable Number correction, boolean keepdim) {
        return var(dim, correction, keepdim);
    }

    // Indexing.

    /**
     * Part of this tensor: {@code t.get(Index.at(1), Index.slice(2, 5), Index.ELLIPSIS)} is {@code t[1, 2:5, ...]}.
     *
     * @param entries one per dimension, fewer mean whole dimensions
     * @return a view; with a tensor or a truth value among the entries, a copy
     * @throws TensorIndexException if an entry leads out of its dimension, or there are too many
     */
    public Tensor get(Index... entries) {
        checkOpen();
        return Indexing.get(this, entries);
    }

    /**
     * The part at a position of the leading dimensions: {@code t.get(1, 2)} is {@code t[1, 2]}.
     *
     * @param positions one per leading dimension, negative counts from the end
     * @return the view
     */
    public Tensor get(long... positions) {
        checkOpen();
        return Indexing.get(this, Arrays.stream(positions).mapToObj(Index::at).toArray(Index[]::new));
    }

    /**
     * Writes into part of this tensor: {@code t.set(v, Index.at(1))} is {@code t[1] = v}.
     *
     * @param value what to write, broadcast to the part; of this tensor's dtype if a tensor or a truth value is among the entries
     * @param entries as in {@link #get(Index...)}
     * @return this tensor
     * @throws TensorIndexException if an entry leads out of its dimension, or there are too many
     */
    public Tensor set(Tensor value, Index... entries) {
        checkOpen();
        Indexing.set(this, value, entries);
        return this;
    }

    /**
     * Writes a number into part of this tensor: {@code t.set(0, Index.at(mask), Index.slice(1, 3))} is {@code t[mask, 1:3] = 0}.
     *
     * @param value what to write everywhere
     * @param entries as in {@link #get(Index...)}
     * @return this tensor
     * @throws TensorIndexException if an entry leads out of its dimension, or there are too many
     */
    public Tensor set(Number value, Index... entries) {
        checkOpen();
        Indexing.set(this, value, entries);
        return this;
    }

    /**
     * A registered hook. It stays registered if this is left to the collector, and can be removed although the tensor or the node that it
     * was registered on is closed: as long as a graph or another share of the tensor would run it.
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

    // What the native side calls back.

    /** A function of tensors that the native side calls. */
    interface OfTensors {
        @Nullable Tensor @Nullable [] call(@Nullable Tensor[] first, @Nullable Tensor[] second, boolean[] flags);
    }

    /** The function with handles. Its tensors, and those that it makes, are closed when it returns. */
    @SuppressWarnings("try")
    static Upcalls.OfTensors upcall(OfTensors function) {
        return (first, second, flags) -> {
            try (Scope scope = new Scope()) {
                @Nullable Tensor[] results = function.call(wrapAllNullable(first), wrapAllNullable(second), flags);
                return results == null ? null : retained(results.clone());
            }
        };
    }

    /** A share of its own for the native side; 0 for null. */
    static long retained(@Nullable Tensor tensor) {
        acquire(tensor);
        try {
            return tensor == null ? 0 : NativeCore.retain(tensor.handle());
        } finally {
            release(tensor);
        }
    }

    /** Shares for the native side in all of them or, where one is closed, in none. */
    private static long[] retained(@Nullable Tensor[] tensors) {
        acquire(tensors);
        try {
            return Arrays.stream(tensors).mapToLong(Tensor::retained).toArray();
        } finally {
            release(tensors);
        }
    }

    /** PyTorch's text: {@code tensor([1., 2.])}. */
    @Override
    public String toString() {
        return TensorFormat.format(this);
    }
}
