package org.rushlight;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * An operator with a custom derivative, like {@code torch.autograd.Function}.
 *
 * <pre>{@code
 * class Square extends AutogradFunction {
 *     protected Tensor[] forward(Context context, Tensor... inputs) {
 *         context.saveForBackward(inputs);
 *         return new Tensor[] {inputs[0].mul(inputs[0])};
 *     }
 *
 *     protected Tensor[] backward(Context context, Tensor... grads) {
 *         return new Tensor[] {grads[0].mul(context.savedTensors()[0]).mul(2)};
 *     }
 * }
 * Tensor y = new Square().apply(x)[0];
 * }</pre>
 *
 * <p>Store arguments that are not tensors in fields of the subclass. Tensors passed to backward are open only during
 * the call; pass values from forward to backward through the context.
 */
public abstract class AutogradFunction {
    /** Constructor for subclasses. */
    protected AutogradFunction() {}

    /** Passes values from forward to backward. */
    public static final class Context {
        private final Map<String, Object> values;
        private final boolean[] needsInputGrad;
        private @Nullable Tensor[] saved = {};
        private List<Tensor> dirty = List.of();
        private List<Tensor> nonDifferentiable = List.of();
        private boolean materializeGrads = true;

        private Context(Map<String, Object> values, boolean[] needsInputGrad) {
            this.values = values;
            this.needsInputGrad = needsInputGrad;
        }

        /**
         * Saves inputs and outputs for backward.
         *
         * @param tensors tensors to save; null elements stay null
         */
        public void saveForBackward(@Nullable Tensor... tensors) {
            saved = tensors.clone();
        }

        /**
         * Returns the saved tensors. In backward it is an error if one was modified in place since.
         *
         * @return the tensors in the order in which they were saved
         */
        public @Nullable Tensor[] savedTensors() {
            return saved.clone();
        }

        /**
         * Marks inputs that forward has modified in place; forward must return them.
         *
         * @param inputs the inputs
         */
        public void markDirty(Tensor... inputs) {
            dirty = List.of(inputs);
        }

        /**
         * Marks outputs as not differentiable.
         *
         * @param outputs the outputs
         */
        public void markNonDifferentiable(Tensor... outputs) {
            nonDifferentiable = List.of(outputs);
        }

        /**
         * Sets what backward receives for an output without a gradient.
         *
         * @param value true for zeros (the default); false for null
         */
        public void setMaterializeGrads(boolean value) {
            materializeGrads = value;
        }

        /**
         * Returns whether the gradient of an input is needed.
         *
         * @param index index of the input
         * @return false if backward need not compute it
         */
        public boolean needsInputGrad(int index) {
            return needsInputGrad[index];
        }

        /**
         * Returns a map for values other than inputs and outputs, shared by forward and backward.
         *
         * @return the map
         */
        public Map<String, Object> values() {
            return values;
        }
    }

    /**
     * Computes the outputs. Nothing is recorded during the call.
     *
     * @param context stores values for backward
     * @param inputs the inputs; null for a missing one
     * @return the outputs
     */
    protected abstract Tensor[] forward(Context context, @Nullable Tensor... inputs);

    /**
     * Computes the gradients of the inputs from the gradients of the outputs.
     *
     * @param context the values stored by forward
     * @param gradOutputs one gradient per output
     * @return one gradient, or null, per input
     */
    protected abstract @Nullable Tensor[] backward(Context context, @Nullable Tensor... gradOutputs);

    /**
     * Calls forward and records the operation.
     *
     * @param inputs the inputs
     * @return the outputs
     */
    public final Tensor[] apply(@Nullable Tensor... inputs) {
        return applyTo(inputs.clone());
    }

    @SuppressWarnings("try")
    private Tensor[] applyTo(@Nullable Tensor[] inputs) {
        boolean recording = NativeCore.gradEnabled();
        boolean[] needed = new boolean[inputs.length];
        for (int i = 0; i < inputs.length; i++) {
            needed[i] = recording && inputs[i] != null && inputs[i].requiresGrad();
        }
        Context context = new Context(new HashMap<>(), needed);
        Tensor[] outputs;
        try (NoGrad off = new NoGrad()) {
            outputs = given(forward(context, inputs.clone()));
            checkDirty(context, inputs, outputs);
            for (int i = 0; i < outputs.length; i++) {
                if (holds(inputs, outputs[i]) && !holds(context.dirty.toArray(Tensor[]::new), outputs[i])) {
                    // Return an unmodified input as a view, so that the output can have its own history.
                    Tensor view = outputs[i].viewAs(outputs[i]);
                    for (int k = 0; k < context.saved.length; k++) {
                        if (context.saved[k] != null && context.saved[k].isSame(outputs[i])) {
                            context.saved[k] = view;
                        }
                    }
                    outputs[i] = view;
                }
            }
        }
        record(context, inputs, outputs);
        return outputs;
    }

    /** The outputs that forward returned, in their state at that time. */
    private Tensor[] given(@Nullable Tensor @Nullable [] outputs) {
        if (outputs == null) {
            throw new NullPointerException("the forward of " + getClass().getSimpleName() + " returned null");
        }
        int missing = Arrays.asList(outputs).indexOf(null);
        if (missing >= 0) {
            throw new NullPointerException("the forward of " + getClass().getSimpleName() + " returned null as output " + missing);
        }
        return outputs.clone();
    }

    private static boolean holds(Tensor[] list, Tensor tensor) {
        for (Tensor item : list) {
            if (item != null && item.isSame(tensor)) {
                return true;
            }
        }
        return false;
    }

    private static void checkDirty(Context context, Tensor[] inputs, Tensor[] outputs) {
        for (Tensor tensor : context.dirty) {
            if (holds(inputs, tensor) && !holds(outputs, tensor)) {
                throw new RushlightException(
                    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified"
                        + " inplace must all be outputs of the Function.");
            }
            tensor.bumpVersion();
        }
    }

    private void record(Context context, Tensor[] inputs, Tensor[] outputs) {
        boolean[] differentiable = new boolean[outputs.length];
        Tensor[] withoutGradient = context.nonDifferentiable.toArray(Tensor[]::new);
        for (int i = 0; i < outputs.length; i++) {
            DType dtype = outputs[i].dtype();
            differentiable[i] = (dtype.isFloatingPoint() || dtype.isComplex()) && !holds(withoutGradient, outputs[i]);
        }
        Tensor[] kept = context.saved;
        boolean[] keptOutputs = new boolean[kept.length];
        for (int i = 0; i < kept.length; i++) {
            keptOutputs[i] = kept[i] != null && holds(outputs, kept[i]);
        }
        // The node keeps this object, so it must not refer to tensors of forward.
        Map<String, Object> values = context.values;
        Tensor.OfTensors call = (grads, saved, needed) -> {
            Context running = new Context(values, needed);
            running.saved = saved;
            return backward(running, grads);
        };
        List<Tensor> all = new ArrayList<>();
        for (Tensor[] list : new Tensor[][] {inputs, outputs, kept}) {
            all.addAll(Arrays.asList(list));
        }
        Tensor[] held = all.toArray(Tensor[]::new);
        Tensor.acquire(held);
        try {
            NativeCore.recordCustom(
                Tensor.upcall(call), getClass().getSimpleName() + "Backward", Tensor.handlesOrZero(inputs), Tensor.handles(outputs),
                differentiable, context.materializeGrads, Tensor.handlesOrZero(kept), keptOutputs);
        } finally {
            Tensor.release(held);
        }
    }
}
