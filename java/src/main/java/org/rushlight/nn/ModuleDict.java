package org.rushlight.nn;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * Modules by name. It computes nothing by itself.
 *
 * <pre>{@code
 * try (ModuleDict heads = new ModuleDict().put("digits", new Linear(8, 10)).put("letters", new Linear(8, 26))) {
 *     System.out.println(Arrays.toString(heads.get("letters").forward(Torch.ones(2, 8)).shape())); // [2, 26]
 * }
 * }</pre>
 */
public final class ModuleDict extends Module implements Iterable<Map.Entry<String, Module>> {
    /** An empty dictionary. */
    public ModuleDict() {}

    /**
     * A dictionary of modules.
     *
     * @param modules the modules by name, in the order of the map
     */
    public ModuleDict(Map<String, ? extends Module> modules) {
        modules.forEach(this::put);
    }

    /**
     * Adds a module.
     *
     * @param name its name, which is not taken yet
     * @param module the module
     * @return this dictionary
     */
    public ModuleDict put(String name, Module module) {
        registerModule(name, module);
        return this;
    }

    /**
     * The module of a name.
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
     * Number of modules.
     *
     * @return the number
     */
    public int size() {
        return namedChildren().size();
    }

    /**
     * Is there a module of a name?
     *
     * @param name the name
     * @return true if so
     */
    public boolean contains(String name) {
        return namedChildren().containsKey(name);
    }

    /**
     * The names.
     *
     * @return the names of the modules, in the order in which they were put
     */
    public Set<String> keys() {
        return namedChildren().keySet();
    }

    /**
     * The modules.
     *
     * @return the modules, in the order in which they were put
     */
    public Collection<Module> values() {
        return namedChildren().values();
    }

    /**
     * Takes a module out.
     *
     * @param name its name
     * @return the module, which is the caller's now
     * @throws IllegalArgumentException if there is none
     */
    public Module remove(String name) {
        return unregisterModule(name);
    }

    /** Names and modules, in the order in which they were put. */
    @Override
    public Iterator<Map.Entry<String, Module>> iterator() {
        return namedChildren().entrySet().iterator();
    }
}
