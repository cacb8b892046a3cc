package org.rushlight;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * A node of the autograd graph. It is freed when it is closed, or when the garbage collector finds it.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(2).requiresGrad_(true);
 * try (Tensor y = w.mul(2); Node node = y.gradNode()) {
 *     System.out.println(node.name()); // MulBackward1
 * }
 * }</pre>
 */
public final class Node extends NativeOwner {
    private Node(long handle) {
        super(handle, new Release(handle));
    }

    /** The cleaner's action. It must not refer to the node. */
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
     * The destination of a gradient.
     *
     * @param node the node that receives the gradient, or null if none needs it; the caller closes it
     * @param inputNumber index of the gradient in that node
     */
    public record Edge(@Nullable Node node, int inputNumber) {}

    /**
     * Returns PyTorch's name of the derivative.
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
     * Returns the sequence number within the recording thread.
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
     * Returns the destinations of the gradients that this node computes.
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
     * Registers a hook that every backward calls before the node runs, after the hooks of its tensors. Tensors are open
     * during the call.
     *
     * @param hook receives the incoming gradients, null for undefined ones; returns replacements, or null to keep them
     * @return close it to remove the hook, also after this node was closed
     */
    public Tensor.Hook registerPrehook(UnaryOperator<@Nullable Tensor @Nullable []> hook) {
        return register(Tensor.upcall((taken, none, flags) -> hook.apply(taken)), true);
    }

    /**
     * Registers a hook that every backward calls after the node ran. Tensors are open during the call.
     *
     * @param hook receives the computed and the incoming gradients; returns replacements for the former, or null
     * @return close it to remove the hook, also after this node was closed
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

    /** Releases the handle; the graph keeps its nodes as long as it needs them. */
    @Override
    public void close() {
        super.close();
    }
}
