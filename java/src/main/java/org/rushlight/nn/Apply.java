package org.rushlight.nn;

import java.util.function.UnaryOperator;
import org.rushlight.Tensor;

/**
 * Wraps a function as a module, for {@link Sequential}: {@code new Apply(x -> x.mul(2))}. C++ calls it {@code
 * nn::Functional}.
 *
 * <pre>{@code
 * try (Sequential net = new Sequential(new Linear(2, 2), new Apply(y -> y.mul(2).clampMin(0)))) {
 *     System.out.println(Arrays.toString(net.forward(Torch.ones(3, 2)).shape())); // [3, 2]
 * }
 * }</pre>
 */
public final class Apply extends Module {
    private final UnaryOperator<Tensor> function;

    /**
     * Creates a module from a function.
     *
     * @param function the function
     */
    public Apply(UnaryOperator<Tensor> function) {
        this.function = function;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return function.apply(input);
    }
}
