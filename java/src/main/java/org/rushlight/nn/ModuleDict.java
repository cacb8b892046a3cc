package org.rushlight.nn;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * A dictionary of modules. It has no {@code forward}.
 *
 * <pre>{@code
 * try (ModuleDict heads = new ModuleDict().put("digits", new Linear(8, 10)).put("letters", new Linear(8, 26))) {
 *     System.out.println(Arrays.toString(heads.get("letters").forward(Torch.ones(2, 8)).shape())); // [2, 26]
 * }
 * }</pre>
 */
public final class ModuleDict extends Module implements Iterable<Map.Entry<String, Module>> {
    /** Creates an empty dictionary. */
    public ModuleDict() {}

    /**
     * Creates a dictionary of modules.
     *
     * @param modules the modules by name, in the order of the map
     */
    public ModuleDict(Map<String, ? extends Module> modules) {
        modules.forEach(this::put);
    }

    /**
     * Adds a module.
     *
     * @param name its name, which must be unused
     * @param module the module
     * @return this dictionary
     */
    public ModuleDict put(String name, Module module) {
        registerModule(name, module);
        return this;
    }

    /**
     * Returns a module by name.
     *
     * @param name the name
     * @return the module
     * @throws IllegalArgumentException if there is none
     */
    public Module get(String name) {
        Module module = namedChildren().get(name);
        if (module == null) {
            throw new IllegalArgumentException("there is no module '" + name + "'");
        }
        return module;
    }

    /**
     * Returns the number of modules.
     *
     * @return the number
     */
    public int size() {
        return namedChildren().size();
    }

    /**
     * Returns whether there is a module of the given name.
     *
     * @param name the name
     * @return true if so
     */
    public boolean contains(String name) {
        return namedChildren().containsKey(name);
    }

    /**
     * Returns the names.
     *
     * @return the names of the modules, in insertion order
     */
    public Set<String> keys() {
        return namedChildren().keySet();
    }

    /**
     * Returns the modules.
     *
     * @return the modules, in insertion order
     */
    public Collection<Module> values() {
        return namedChildren().values();
    }

    /**
     * Removes a submodule.
     *
     * @param name its name
     * @return the module, which then belongs to the caller
     * @throws IllegalArgumentException if there is none
     */
    public Module remove(String name) {
        return unregisterModule(name);
    }

    /** Returns names and modules, in insertion order. */
    @Override
    public Iterator<Map.Entry<String, Module>> iterator() {
        return namedChildren().entrySet().iterator();
    }
}
