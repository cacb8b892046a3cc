package org.rushlight;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * An operator in the graph of gradients. It is freed when it is closed, or when the collector finds it.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(2).requires_grad_(true);
 * try (Tensor y = w.mul(2); Node node = y.gradNode()) {
 *     System.out.println(node.name()); // MulBackward1
 * }
 * }</pre>
 */
public final class Node extends NativeOwner {
    private Node(long handle) {
        super(handle, new Release(handle));
    }

    /** What the cleaner runs. It must not refer to the node. */
    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeCore.nodeFree(handle);
        }
    }

    static @Nullable Node wrapNullable(long handle) {
        return handle == 0 ? null : new Node(handle);
    }

    @Override
    String label() {
        return "the node";
    }

    /**
     * Where a gradient goes.
     *
     * @param node the node that takes it, or null if nobody needs it; the caller closes it
     * @param inputNumber which of that node's gradients it is
     */
    public record Edge(@Nullable Node node, int inputNumber) {}

    /**
     * PyTorch's name of the operator's derivative.
     *
     * @return a name such as {@code MulBackward0}
     */
    public String name() {
        acquire(this);
        try {
            return NativeCore.nodeName(handle());
        } finally {
            release(this);
        }
    }

    /**
     * The order in which its thread recorded nodes.
     *
     * @return a number that is larger for later calls
     */
    public long sequenceNumber() {
        acquire(this);
        try {
            return NativeCore.nodeSequence(handle());
        } finally {
            release(this);
        }
    }

    /**
     * Where the gradients that it gives go.
     *
     * @return one edge for each differentiable argument of the operator
     */
    public List<Edge> nextEdges() {
        acquire(this);
        try {
            long[] pairs = NativeCore.nodeNext(handle());
            List<Edge> edges = new ArrayList<>();
            for (int i = 0; i < pairs.length; i += 2) {
                edges.add(new Edge(wrapNullable(pairs[i]), (int) pairs[i + 1]));
            }
            return edges;
        } finally {
            release(this);
        }
    }

    /**
     * Calls a function in every backward before the node runs, after the hooks of its tensors. Tensors are open during the call.
     *
     * @param hook receives the gradients that the node is about to take, null where none arrived; returns others, or null to leave them
     * @return closing it removes the hook, also after this node was closed
     */
    public Tensor.Hook registerPrehook(UnaryOperator<@Nullable Tensor @Nullable []> hook) {
        return register(Tensor.upcall((taken, none, flags) -> hook.apply(taken)), true);
    }

    /**
     * Calls a function in every backward after the node ran. Tensors are open during the call.
     *
     * @param hook receives the gradients that the node gave, and those that it took; returns others in place of the first, or null
     * @return closing it removes the hook, also after this node was closed
     */
    public Tensor.Hook registerHook(BinaryOperator<@Nullable Tensor @Nullable []> hook) {
        return register(Tensor.upcall((gave, took, flags) -> hook.apply(gave, took)), false);
    }

    private Tensor.Hook register(Upcalls.OfTensors upcall, boolean before) {
        acquire(this);
        try {
            return new Tensor.Hook(NativeCore.nodeRegisterHook(handle(), upcall, before));
        } finally {
            release(this);
        }
    }

    /** Gives the handle up; the graph keeps its nodes as long as it needs them. */
    @Override
    public void close() {
        super.close();
    }
}
