package org.rushlight;

import org.jspecify.annotations.Nullable;

/**
 * Frees the tensors created in it. While a scope is the innermost one of its thread, every tensor that an operator or
 * factory returns on that thread joins it, and {@link #close} closes them all.
 *
 * <pre>{@code
 * try (Scope scope = new Scope()) {
 *     Tensor loss = model.forward(input).mean();
 *     loss.backward();
 *     total += loss.item().doubleValue();
 * } // every temporary is freed here
 * }</pre>
 *
 * <p>A tensor leaves with {@link #keep} (to the enclosing scope) or {@link Tensor#unscoped} (to no scope: it is then
 * closed explicitly, or freed by the garbage collector). A scope belongs to the thread that opened it; scopes are
 * closed in reverse order of opening. A scope left open, for example on a pool thread, holds every tensor that is
 * created there later: {@link LeakDetector#open} reports where it was opened.
 *
 * <p>A {@link #detached} scope belongs to no thread: work that moves between threads, such as a Kotlin coroutine, enters
 * it wherever it runs.
 */
public final class Scope implements AutoCloseable {
    private static final ThreadLocal<Scope> INNERMOST = new ThreadLocal<>();

    /** Null for a detached scope, whose lists are guarded by the scope. */
    private final @Nullable Thread owner;
    private final @Nullable Scope outer;
    /** The scope that new tensors join: this one, unless it stands for a detached one on a thread. */
    private final Scope target;
    private final LeakDetector.@Nullable Traced traced = LeakDetector.trace(this);
    private @Nullable Tensor newest;
    private volatile boolean closed;
    /** Whether the thread has left a detached scope inside which this one was opened. */
    private boolean left;
    /** Number of threads on which a detached scope is entered; guarded by the scope. */
    private int entered;

    /** Opens a scope inside the innermost one of this thread. */
    public Scope() {
        owner = Thread.currentThread();
        target = this;
        outer = INNERMOST.get();
        INNERMOST.set(this);
    }

    /** Enters a detached scope on this thread, or creates one. */
    private Scope(@Nullable Scope detached) {
        target = detached == null ? this : detached;
        owner = detached == null ? null : Thread.currentThread();
        outer = detached == null ? null : INNERMOST.get();
    }

    /**
     * Creates a scope that belongs to no thread. Tensors join it while a thread has entered it; several threads may do so
     * at the same time. Any thread may close it; if threads are inside, the last one to leave frees the tensors.
     *
     * <pre>{@code
     * try (Scope request = Scope.detached()) {
     *     Tensor[] sum = {null};
     *     Thread first = new Thread(() -> {
     *         try (Scope.Entered here = request.enter()) {
     *             sum[0] = Torch.ones(3).sum();
     *         }
     *     });
     *     first.start();
     *     first.join();
     *     System.out.println(request.contains(sum[0])); // true
     * }
     * }</pre>
     *
     * @return the scope
     */
    public static Scope detached() {
        return new Scope((Scope) null);
    }

    /** The time during which a thread has entered a detached scope. */
    public static final class Entered implements AutoCloseable {
        private final Scope marker;

        private Entered(Scope marker) {
            this.marker = marker;
        }

        /**
         * Leaves the scope, which stays open. Closing twice is allowed. Scopes that were opened inside are left, too:
         * they can no longer be used.
         *
         * @throws IllegalStateException if another thread entered the scope
         */
        @Override
        public void close() {
            marker.leave();
        }
    }

    /**
     * Makes this detached scope the innermost one of the current thread.
     *
     * @return closing it restores the previous scope
     * @throws IllegalStateException if the scope is closed, or is not a detached one
     */
    public Entered enter() {
        checkOpen();
        if (owner != null) {
            throw new IllegalStateException("only a detached scope can be entered");
        }
        synchronized (this) {
            checkOpen();
            entered++;
        }
        Scope marker = new Scope(this);
        INNERMOST.set(marker);
        return new Entered(marker);
    }

    private void leave() {
        if (closed) {
            return;
        }
        check();
        closed = true;
        for (Scope inner = INNERMOST.get(); inner != null && inner != this; inner = inner.outer) {
            inner.left = true;
        }
        restore(outer);
        boolean last;
        synchronized (target) {
            last = --target.entered == 0 && target.closed;
        }
        if (last) {
            target.closeTensors();
        }
    }

    private static void restore(@Nullable Scope to) {
        if (to == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(to);
        }
    }

    /** Adds a new tensor to the innermost scope of this thread, if there is one. */
    static void join(Tensor tensor) {
        Scope scope = INNERMOST.get();
        if (scope != null) {
            scope.target.add(tensor);
        }
    }

    /**
     * Moves a tensor to the enclosing scope, or to none if this is the outermost or a detached one, so that it outlives
     * this scope.
     *
     * @param tensor a tensor of this scope; one of another scope or none is left where it is
     * @return the tensor
     */
    public Tensor keep(Tensor tensor) {
        check();
        if (tensor.scope == this) {
            remove(tensor);
            if (outer != null) {
                outer.target.add(tensor);
            }
        }
        return tensor;
    }

    /**
     * Returns whether a tensor belongs to this scope.
     *
     * @param tensor a tensor
     * @return true if closing the scope closes it
     */
    public boolean contains(Tensor tensor) {
        checkOpen();
        return tensor.scope == this;
    }

    private void add(Tensor tensor) {
        if (owner == null) {
            synchronized (this) {
                link(tensor);
            }
        } else {
            link(tensor);
        }
    }

    private void link(Tensor tensor) {
        tensor.scope = this;
        tensor.older = newest;
        if (newest != null) {
            newest.newer = tensor;
        }
        newest = tensor;
    }

    /**
     * Removes a tensor that was closed or moved. On another thread the links must not be modified: the tensor then
     * stays listed, which is harmless, since closing twice is allowed.
     */
    void remove(Tensor tensor) {
        if (owner == null) {
            synchronized (this) {
                unlink(tensor);
            }
        } else if (Thread.currentThread() == owner) {
            unlink(tensor);
        }
    }

    private void unlink(Tensor tensor) {
        if (tensor.scope != this) {
            return;
        }
        if (tensor.newer == null) {
            newest = tensor.older;
        } else {
            tensor.newer.older = tensor.older;
        }
        if (tensor.older != null) {
            tensor.older.newer = tensor.newer;
        }
        tensor.scope = null;
        tensor.older = null;
        tensor.newer = null;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the scope is closed");
        }
    }

    private void check() {
        checkOpen();
        if (owner != null && Thread.currentThread() != owner) {
            throw new IllegalStateException("the scope belongs to thread '" + owner.getName() + "'");
        }
    }

    /**
     * Closes every tensor of the scope, newest first; those of a detached scope once no thread is inside. Closing twice is
     * allowed.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        check();
        if (owner == null) {
            synchronized (this) {
                closed = true;
                if (entered > 0) {
                    return; // The last thread to leave does the rest.
                }
            }
        } else {
            Scope innermost = INNERMOST.get();
            if (left) {
                throw new IllegalStateException("the scope was still open when its thread left a detached scope");
            }
            if (innermost != this) {
                throw new IllegalStateException("a scope inside this one is still open", innermost.traced == null ? null : innermost.traced.origin());
            }
            closed = true;
            restore(outer);
        }
        closeTensors();
    }

    private void closeTensors() {
        if (traced != null) {
            traced.close();
        }
        for (Tensor tensor = last(); tensor != null; tensor = last()) {
            remove(tensor);
            tensor.close();
        }
    }

    private @Nullable Tensor last() {
        if (owner != null) {
            return newest;
        }
        synchronized (this) {
            return newest;
        }
    }
}
