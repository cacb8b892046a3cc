package org.rushlight.nn;

import java.util.Iterator;
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
public final class ParameterList extends Module implements Iterable<Tensor> {
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
        registerParameter(Integer.toString(size()), parameter);
        return this;
    }

    /**
     * The parameter at a place.
     *
     * @param index the place; negative numbers count from the end
     * @return the parameter
     * @throws IndexOutOfBoundsException if there is no such place
     */
    public Tensor get(int index) {
        return Places.get(List.copyOf(ownParameters().values()), index, "ParameterList");
    }

    /**
     * Number of parameters.
     *
     * @return the number
     */
    public int size() {
        return ownParameters().size();
    }

    /** The parameters, first to last. */
    @Override
    public Iterator<Tensor> iterator() {
        return List.copyOf(ownParameters().values()).iterator();
    }
}
