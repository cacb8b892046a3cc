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
 */
public final class Scope implements AutoCloseable {
    private static final ThreadLocal<Scope> INNERMOST = new ThreadLocal<>();

    private final Thread owner = Thread.currentThread();
    private final @Nullable Scope outer;
    private final LeakDetector.@Nullable Traced traced = LeakDetector.trace(this);
    private @Nullable Tensor newest;
    private boolean closed;

    /** Opens a scope inside the innermost one of this thread. */
    public Scope() {
        outer = INNERMOST.get();
        INNERMOST.set(this);
    }

    /** Adds a new tensor to the innermost scope of this thread, if there is one. */
    static void join(Tensor tensor) {
        Scope scope = INNERMOST.get();
        if (scope != null) {
            scope.add(tensor);
        }
    }

    /**
     * Moves a tensor to the enclosing scope, or to none if this is the outermost, so that it outlives this scope.
     *
     * @param tensor a tensor of this scope; one of another scope or none is left where it is
     * @return the tensor
     */
    public Tensor keep(Tensor tensor) {
        check();
        if (tensor.scope == this) {
            remove(tensor);
            if (outer != null) {
                outer.add(tensor);
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
        if (Thread.currentThread() != owner || tensor.scope != this) {
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
        if (Thread.currentThread() != owner) {
            throw new IllegalStateException("the scope belongs to thread '" + owner.getName() + "'");
        }
    }

    /** Closes every tensor of the scope, newest first. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        check();
        Scope innermost = INNERMOST.get();
        if (innermost != this) {
            throw new IllegalStateException("a scope inside this one is still open", innermost.traced == null ? null : innermost.traced.origin());
        }
        closed = true;
        if (traced != null) {
            traced.close();
        }
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
        while (newest != null) {
            Tensor tensor = newest;
            remove(tensor);
            tensor.close();
        }
    }
}
