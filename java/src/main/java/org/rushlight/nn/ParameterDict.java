package org.rushlight.nn;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.rushlight.Tensor;

/**
 * Parameters by name. It computes nothing by itself.
 *
 * <pre>{@code
 * try (ParameterDict scales = new ParameterDict().put("left", Torch.ones(3)).put("right", Torch.ones(4))) {
 *     System.out.println(scales.get("right").numel() + " " + scales.stateDict().keySet()); // 4 [left, right]
 * }
 * }</pre>
 */
public final class ParameterDict extends Module implements Iterable<Map.Entry<String, Tensor>> {
    /** An empty dictionary. */
    public ParameterDict() {}

    /**
     * A dictionary of parameters, which it owns.
     *
     * @param parameters the tensors by name, in the order of the map
     */
    public ParameterDict(Map<String, Tensor> parameters) {
        parameters.forEach(this::put);
    }

    /**
     * Adds a parameter.
     *
     * @param name its name, which is not taken yet
     * @param parameter the tensor
     * @return this dictionary
     */
    public ParameterDict put(String name, Tensor parameter) {
        registerParameter(name, parameter);
        return this;
    }

    /**
     * The parameter of a name.
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
     * Number of parameters.
     *
     * @return the number
     */
    public int size() {
        return ownParameters().size();
    }

    /**
     * Is there a parameter of a name?
     *
     * @param name the name
     * @return true if so
     */
    public boolean contains(String name) {
        return ownParameters().containsKey(name);
    }

    /**
     * The names.
     *
     * @return the names of the parameters, in the order in which they were put
     */
    public Set<String> keys() {
        return ownParameters().keySet();
    }

    /**
     * The parameters.
     *
     * @return the parameters, in the order in which they were put
     */
    public Collection<Tensor> values() {
        return ownParameters().values();
    }

    /**
     * Takes a parameter out.
     *
     * @param name its name
     * @return the parameter, which is the caller's now
     * @throws IllegalArgumentException if there is none
     */
    public Tensor remove(String name) {
        return unregisterParameter(name);
    }

    /** Names and parameters, in the order in which they were put. */
    @Override
    public Iterator<Map.Entry<String, Tensor>> iterator() {
        return ownParameters().entrySet().iterator();
    }
}
