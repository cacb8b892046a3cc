package org.rushlight.optim;

import org.rushlight.DType;
import org.rushlight.Tensor;

/**
 * What a state tensor of an optimizer looks like: {@link Optimizer#stateKinds} names them, and states that are loaded are held against it.
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
 * @param dtype its dtype; a tensor of another one is converted when it is loaded
 * @param shape its shape, {@link #ANY_SIZE} where a size is free
 */
public record StateKind(DType dtype, long... shape) {
    /** A size that is free. */
    public static final long ANY_SIZE = -1;

    /** The number of steps, as in PyTorch a scalar of 32 bits. */
    static final StateKind STEP = new StateKind(DType.FLOAT32);

    /**
     * A tensor like a parameter.
     *
     * @param parameter the parameter
     * @return the kind of its shape and dtype
     */
    public static StateKind like(Tensor parameter) {
        return new StateKind(parameter.dtype(), parameter.shape());
    }

    /** May a tensor of this shape be one? */
    boolean fits(long[] other) {
        boolean fits = other.length == shape.length;
        for (int i = 0; fits && i < shape.length; i++) {
            fits = shape[i] == ANY_SIZE || shape[i] == other[i];
        }
        return fits;
    }
}
