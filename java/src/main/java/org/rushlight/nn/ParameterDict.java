package org.rushlight.nn;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.rushlight.Tensor;

/**
 * A dictionary of parameters. It has no {@code forward}.
 *
 * <pre>{@code
 * try (ParameterDict scales = new ParameterDict().put("left", Torch.ones(3)).put("right", Torch.ones(4))) {
 *     System.out.println(scales.get("right").numel() + " " + scales.stateDict().keySet()); // 4 [left, right]
 * }
 * }</pre>
 */
public final class ParameterDict extends Module implements Iterable<Map.Entry<String, Tensor>> {
    /** Creates an empty dictionary. */
    public ParameterDict() {}

    /**
     * Creates a dictionary of parameters, which it owns.
     *
     * @param parameters the tensors by name, in the order of the map
     */
    public ParameterDict(Map<String, Tensor> parameters) {
        parameters.forEach(this::put);
    }

    /**
     * Adds a parameter.
     *
     * @param name its name, which must be unused
     * @param parameter the tensor
     * @return this dictionary
     */
    public ParameterDict put(String name, Tensor parameter) {
        registerParameter(name, parameter);
        return this;
    }

    /**
     * Returns a parameter by name.
     *
     * @param name the name
     * @return the parameter
     * @throws IllegalArgumentException if there is none
     */
    public Tensor get(String name) {
        Tensor parameter = ownParameters().get(name);
        if (parameter == null) {
            throw new IllegalArgumentException("there is no parameter '" + name + "'");
        }
        return parameter;
    }

    /**
     * Returns the number of parameters.
     *
     * @return the number
     */
    public int size() {
        return ownParameters().size();
    }

    /**
     * Returns whether there is a parameter of the given name.
     *
     * @param name the name
     * @return true if so
     */
    public boolean contains(String name) {
        return ownParameters().containsKey(name);
    }

    /**
     * Returns the names.
     *
     * @return the names of the parameters, in insertion order
     */
    public Set<String> keys() {
        return ownParameters().keySet();
    }

    /**
     * Returns the parameters.
     *
     * @return the parameters, in insertion order
     */
    public Collection<Tensor> values() {
        return ownParameters().values();
    }

    /**
     * Removes a parameter.
     *
     * @param name its name
     * @return the parameter, which then belongs to the caller
     * @throws IllegalArgumentException if there is none
     */
    public Tensor remove(String name) {
        return unregisterParameter(name);
    }

    /** Returns names and parameters, in insertion order. */
    @Override
    public Iterator<Map.Entry<String, Tensor>> iterator() {
        return ownParameters().entrySet().iterator();
    }
}
