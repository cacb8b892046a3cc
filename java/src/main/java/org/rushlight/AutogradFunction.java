package org.rushlight;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * An operator with a derivative of its own, as {@code torch.autograd.Function} is.
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
 * <p>Arguments that are no tensors are fields of the subclass. In backward, tensors are open during the call; what is to be kept from
 * forward goes through the context.
 */
public abstract class AutogradFunction {
    /** For subclasses. */
    protected AutogradFunction() {}

    /** What forward leaves for backward. */
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
         * Keeps inputs and outputs for backward.
         *
         * @param tensors what to keep; null elements stay null
         */
        public void saveForBackward(@Nullable Tensor... tensors) {
            saved = tensors.clone();
        }

        /**
         * What forward has kept. In backward it is an error if it was written to since.
         *
         * @return the tensors in their order
         */
        public @Nullable Tensor[] savedTensors() {
            return saved.clone();
        }

        /**
         * Marks inputs that forward has written in place; it must return them.
         *
         * @param inputs the inputs
         */
        public void markDirty(Tensor... inputs) {
            dirty = List.of(inputs);
        }

        /**
         * Marks outputs that have no gradient.
         *
         * @param outputs the outputs
         */
        public void markNonDifferentiable(Tensor... outputs) {
            nonDifferentiable = List.of(outputs);
        }

        /**
         * What backward gets for an output that no gradient reached.
         *
         * @param value true for zeros, the default; false for null
         */
        public void setMaterializeGrads(boolean value) {
            materializeGrads = value;
        }

        /**
         * Does anybody want the gradient of this input?
         *
         * @param index its number
         * @return false if backward need not compute it
         */
        public boolean needsInputGrad(int index) {
            return needsInputGrad[index];
        }

        /**
         * Values that are no inputs or outputs, from forward to backward.
         *
         * @return a map that both share
         */
        public Map<String, Object> values() {
            return values;
        }
    }

    /**
     * Computes the outputs. Nothing is recorded meanwhile.
     *
     * @param context takes what backward needs
     * @param inputs the inputs, null where one is missing
     * @return the outputs
     */
    protected abstract Tensor[] forward(Context context, @Nullable Tensor... inputs);

    /**
     * Computes the gradients of the inputs from those of the outputs.
     *
     * @param context what forward has left
     * @param gradOutputs one gradient for each output
     * @return one gradient, or null, for each input
     */
    protected abstract @Nullable Tensor[] backward(Context context, @Nullable Tensor... gradOutputs);

    /**
     * Calls forward and records it.
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
                    // An untouched input leaves as a view of it, so that it can have a history of its own.
                    Tensor view = outputs[i].view_as(outputs[i]);
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

    /** What forward returned, as it was then. */
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
        // The node keeps this: no tensor of forward may hang on it.
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
