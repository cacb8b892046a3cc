package org.rushlight.nn;

import java.util.Iterator;
import java.util.List;
import org.rushlight.Tensor;

/**
 * A list of parameters. It has no {@code forward}.
 *
 * <pre>{@code
 * try (ParameterList scales = new ParameterList(Torch.ones(3), Torch.ones(4))) {
 *     System.out.println(scales.get(1).numel() + " " + scales.parameters().size()); // 4 2
 * }
 * }</pre>
 */
public final class ParameterList extends Module implements Iterable<Tensor> {
    /**
     * Creates a list of parameters, which it owns.
     *
     * @param parameters the parameters in order
     */
    public ParameterList(Tensor... parameters) {
        for (Tensor parameter : parameters) {
            append(parameter);
        }
    }

    /**
     * Appends a parameter.
     *
     * @param parameter the tensor
     * @return this list
     */
    public ParameterList append(Tensor parameter) {
        registerParameter(Integer.toString(size()), parameter);
        return this;
    }

    /**
     * Returns a parameter by index.
     *
     * @param index the index; negative counts from the end
     * @return the parameter
     * @throws IndexOutOfBoundsException if the index is out of range
     */
    public Tensor get(int index) {
        return Places.get(List.copyOf(ownParameters().values()), index, "ParameterList");
    }

    /**
     * Returns the number of parameters.
     *
     * @return the number
     */
    public int size() {
        return ownParameters().size();
    }

    /** Returns the parameters in order. */
    @Override
    public Iterator<Tensor> iterator() {
        return List.copyOf(ownParameters().values()).iterator();
    }
}
