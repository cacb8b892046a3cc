package org.rushlight;

import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/** The part of {@link Tensor} that has to do with gradients. */
public abstract sealed class TensorAutograd extends TensorMethods permits TensorMetadata {
    TensorAutograd(long handle, Runnable release) {
        super(handle, release);
    }

    /**
     * Does this tensor take part in gradients?
     *
     * @return true if gradients flow into it
     */
    public boolean requiresGrad() {
        Tensor.acquire(self());
        try {
            return NativeCore.requiresGrad(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Sets whether this leaf collects a gradient.
     *
     * @param on true to collect
     * @return this tensor
     */
    public Tensor requires_grad_(boolean on) {
        Tensor.acquire(self());
        try {
            NativeCore.setRequiresGrad(self().handle(), on);
            return self();
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Was this tensor made by the user, and not by a recorded operator?
     *
     * @return true for a leaf
     */
    public boolean isLeaf() {
        Tensor.acquire(self());
        try {
            return NativeCore.isLeaf(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Name of the recorded function that made this tensor.
     *
     * @return the name, or null for a leaf
     */
    public @Nullable String gradFn() {
        Tensor.acquire(self());
        try {
            return NativeCore.gradFnName(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * The gradient that backward passes have collected.
     *
     * @return the gradient, or null
     */
    public @Nullable Tensor grad() {
        Tensor.acquire(self());
        try {
            return Tensor.wrapNullable(NativeCore.grad(self().handle()));
        } finally {
            Tensor.release(self());
        }
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

    /** Asks a tensor that is not a leaf to keep its gradient. */
    public void retainGrad() {
        Tensor.acquire(self());
        try {
            NativeCore.retainGrad(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /** Computes the gradients of this scalar with regard to every leaf, and adds them to their {@link #grad}. */
    public void backward() {
        backward(null, false, false);
    }

    /**
     * Computes the gradients of this tensor with regard to every leaf.
     *
     * @param gradient gradient with regard to this tensor
     */
    public void backward(Tensor gradient) {
        backward(gradient, false, false);
    }

    /**
     * Computes the gradients of this tensor with regard to every leaf.
     *
     * @param gradient gradient with regard to this tensor; null for a scalar
     * @param retainGraph keep the graph for another call
     * @param createGraph record the computation of the gradients themselves (keeps the graph, too)
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
     * Does backward keep the gradient of this tensor although it is no leaf?
     *
     * @return true after {@link #retainGrad}
     */
    public boolean retainsGrad() {
        Tensor.acquire(self());
        try {
            return NativeCore.retainsGrad(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Was this tensor made in inference mode, or is it a view of one that was?
     *
     * @return true if it can be read, but neither written nor saved for backward, outside of that mode
     */
    public boolean isInference() {
        Tensor.acquire(self());
        try {
            return NativeCore.isInference(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /** Counts a write that the library has not seen, such as one through {@link Tensor#toBuffer}: what was saved for backward is out of date then. */
    public void bumpVersion() {
        Tensor.acquire(self());
        try {
            NativeCore.bumpVersion(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * The node of the graph that made this tensor.
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
     * Calls a function with each gradient of this tensor. An exception it throws comes out of {@code backward}. The gradient, and tensors
     * that the function makes, are closed when it returns; {@link Tensor#unscoped} keeps one.
     *
     * @param hook receives the gradient, null where none arrived; returns one that replaces it, or null
     * @return closing it removes the hook, also after this tensor was closed
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
     * Calls a function with this leaf whenever backward has changed its gradient.
     *
     * @param hook receives the leaf
     * @return closing it removes the hook, also after this tensor was closed
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
