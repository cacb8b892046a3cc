package org.rushlight.nn;

import java.util.ArrayList;
import java.util.List;
import org.rushlight.Tensor;

/**
 * Parameters by their place. It computes nothing by itself.
 *
 * <pre>{@code
 * try (ParameterList scales = new ParameterList(Torch.ones(3), Torch.ones(4))) {
 *     System.out.println(scales.get(1).numel() + " " + scales.parameters().size()); // 4 2
 * }
 * }</pre>
 */
public final class ParameterList extends Module {
    private final List<Tensor> list = new ArrayList<>();

    /**
     * A list of parameters, which it owns.
     *
     * @param parameters the tensors, first to last
     */
    public ParameterList(Tensor... parameters) {
        for (Tensor parameter : parameters) {
            append(parameter);
        }
    }

    /**
     * Adds a parameter at the end.
     *
     * @param parameter the tensor
     * @return this list
     */
    public ParameterList append(Tensor parameter) {
        list.add(registerParameter(Integer.toString(list.size()), parameter));
        return this;
    }

    /**
     * The parameter at a place.
     *
     * @param index the place; negative numbers count from the end
     * @return the parameter
     */
    public Tensor get(int index) {
        return list.get(index < 0 ? index + list.size() : index);
    }

    /**
     * Number of parameters.
     *
     * @return the number
     */
    public int size() {
        return list.size();
    }
}
