package org.rushlight.optim;

import org.rushlight.DType;
import org.rushlight.Tensor;

/**
 * Dtype and shape of a state tensor of an optimizer: {@link Optimizer#stateKinds} declares them, and loaded states are
 * validated against them.
 *
 * <pre>{@code
 * final class Averaged extends Optimizer {
 *     Averaged(List<Tensor> parameters) {
 *         super(new SGD.Options(0.1), new ParameterGroup(parameters));
 *     }
 *
 *     protected Map<String, StateKind> stateKinds(int index, Tensor parameter) {
 *         return Map.of("mean", StateKind.like(parameter));
 *     }
 *
 *     protected void update(OptimizerOptions<?> options, List<Integer> which, Tensor[] values, Tensor[] grads) {
 *         for (int i = 0; i < values.length; i++) {
 *             values[i].sub_(zeros(which.get(i), "mean", values[i]).lerp_(grads[i], 0.1), options.lr());
 *         }
 *     }
 * }
 * try (Averaged optimizer = new Averaged(model.parameters())) {
 *     loss(model).backward();
 *     optimizer.step();
 *     System.out.println(optimizer.stateDict().get("state.1.mean").numel()); // 10
 * }
 * }</pre>
 *
 * @param dtype its dtype; loaded tensors of another dtype are converted
 * @param shape its shape; {@link #ANY_SIZE} allows any size
 */
public record StateKind(DType dtype, long... shape) {
    /** Allows any size. */
    public static final long ANY_SIZE = -1;

    /** The step count: as in PyTorch a 32-bit scalar tensor. */
    static final StateKind STEP = new StateKind(DType.FLOAT32);

    /**
     * A tensor like a parameter.
     *
     * @param parameter the parameter
     * @return a kind with its shape and dtype
     */
    public static StateKind like(Tensor parameter) {
        return new StateKind(parameter.dtype(), parameter.shape());
    }

    /** Returns whether a tensor of this shape is valid. */
    boolean fits(long[] other) {
        boolean fits = other.length == shape.length;
        for (int i = 0; fits && i < shape.length; i++) {
            fits = shape[i] == ANY_SIZE || shape[i] == other[i];
        }
        return fits;
    }
}
