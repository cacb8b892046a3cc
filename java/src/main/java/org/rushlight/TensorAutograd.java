package org.rushlight;

import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/** The autograd part of {@link Tensor}. */
public abstract sealed class TensorAutograd extends TensorMethods permits TensorMetadata {
    TensorAutograd(long handle, Runnable release) {
        super(handle, release);
    }

    /** Calls {@code accessor} with the handle, which stays open during the call. */
    final <T> T read(LongFunction<T> accessor) {
        Tensor.acquire(self());
        try {
            return accessor.apply(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /** Calls {@code accessor} with the handle, which stays open during the call. */
    final long readLong(LongUnaryOperator accessor) {
        Tensor.acquire(self());
        try {
            return accessor.applyAsLong(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /** Calls {@code accessor} with the handle, which stays open during the call. */
    final boolean readBoolean(LongPredicate accessor) {
        Tensor.acquire(self());
        try {
            return accessor.test(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Returns whether this tensor requires a gradient.
     *
     * @return true if operations on it are recorded
     */
    public boolean requiresGrad() {
        return readBoolean(NativeCore::requiresGrad);
    }

    /**
     * Sets whether this leaf requires a gradient.
     *
     * @param on whether gradients are accumulated for it
     * @return this tensor
     */
    public Tensor requiresGrad_(boolean on) {
        Tensor.acquire(self());
        try {
            NativeCore.setRequiresGrad(self().handle(), on);
            return self();
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Returns whether this tensor is a leaf: it was not computed by a recorded operator.
     *
     * @return true for a leaf
     */
    public boolean isLeaf() {
        return readBoolean(NativeCore::isLeaf);
    }

    /**
     * Returns the name of the recorded function that computed this tensor.
     *
     * @return the name, or null for a leaf
     */
    public @Nullable String gradFn() {
        return read(NativeCore::gradFnName);
    }

    /**
     * Returns the gradient that backward passes have accumulated.
     *
     * @return the gradient, or null
     */
    public @Nullable Tensor grad() {
        return Tensor.wrapNullable(readLong(NativeCore::grad));
    }

    /**
     * Replaces the gradient.
     *
     * @param grad the gradient, or null to remove it
     */
    public void setGrad(@Nullable Tensor grad) {
        Tensor.acquire(self(), grad);
        try {
            NativeCore.setGrad(self().handle(), Tensor.handleOrZero(grad));
        } finally {
            Tensor.release(self(), grad);
        }
    }

    /** Makes backward keep the gradient of this non-leaf tensor. */
    public void retainGrad() {
        Tensor.acquire(self());
        try {
            NativeCore.retainGrad(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /** Computes the gradients of this scalar with respect to every leaf, and accumulates them in their {@link #grad}. */
    public void backward() {
        backward(null, false, false);
    }

    /**
     * Computes the gradients of this tensor with respect to every leaf.
     *
     * @param gradient gradient with respect to this tensor
     */
    public void backward(Tensor gradient) {
        backward(gradient, false, false);
    }

    /**
     * Computes the gradients of this tensor with respect to every leaf.
     *
     * @param gradient gradient with respect to this tensor; null for a scalar
     * @param retainGraph whether to keep the graph for another backward
     * @param createGraph whether to record the computation of the gradients themselves (also keeps the graph)
     */
    public void backward(@Nullable Tensor gradient, boolean retainGraph, boolean createGraph) {
        Tensor.acquire(self(), gradient);
        try {
            long[] gradients = gradient == null ? null : new long[] {gradient.handle()};
            NativeCore.backward(new long[] {self().handle()}, gradients, retainGraph || createGraph, createGraph, null);
        } finally {
            Tensor.release(self(), gradient);
        }
    }

    /**
     * Returns whether backward keeps the gradient of this non-leaf tensor.
     *
     * @return true after {@link #retainGrad}
     */
    public boolean retainsGrad() {
        return readBoolean(NativeCore::retainsGrad);
    }

    /**
     * Returns whether this tensor was created in inference mode, or is a view of such a tensor.
     *
     * @return true if it can be read, but neither written nor saved for backward, outside of that mode
     */
    public boolean isInference() {
        return readBoolean(NativeCore::isInference);
    }

    /**
     * Bumps the version counter for a write that the library has not seen, such as one through {@link Tensor#toBuffer}:
     * saved tensors are then out of date.
     */
    public void bumpVersion() {
        Tensor.acquire(self());
        try {
            NativeCore.bumpVersion(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Returns the node of the graph that computed this tensor.
     *
     * @return the node, or null for a leaf
     */
    public @Nullable Node gradNode() {
        Tensor.acquire(self());
        try {
            return Node.wrapNullable(NativeCore.gradFn(self().handle()));
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Registers a hook that is called with each gradient of this tensor. An exception from it propagates from {@code
     * backward}. The gradient, and tensors that the hook creates, are closed when it returns; {@link Tensor#unscoped}
     * keeps one.
     *
     * @param hook receives the gradient, or null if it is undefined; returns a replacement, or null
     * @return close it to remove the hook, also after this tensor was closed
     */
    @SuppressWarnings("try")
    public Tensor.Hook registerHook(UnaryOperator<@Nullable Tensor> hook) {
        LongUnaryOperator upcall = handle -> {
            try (Scope scope = new Scope()) {
                return Tensor.retained(hook.apply(Tensor.wrapNullable(handle)));
            }
        };
        Tensor.acquire(self());
        try {
            return new Tensor.Hook(NativeCore.registerHook(self().handle(), upcall));
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Registers a hook that is called with this leaf whenever backward has accumulated a gradient in it.
     *
     * @param hook receives the leaf
     * @return close it to remove the hook, also after this tensor was closed
     */
    public Tensor.Hook registerPostAccumulateGradHook(Consumer<Tensor> hook) {
        Tensor.acquire(self());
        try {
            return new Tensor.Hook(NativeCore.registerPostAccumulateGradHook(self().handle(), Tensor.upcall((leaf, none, flags) -> {
                hook.accept(leaf[0]);
                return null;
            })));
        } finally {
            Tensor.release(self());
        }
    }
}
