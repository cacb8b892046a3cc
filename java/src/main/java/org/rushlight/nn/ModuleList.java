package org.rushlight.nn;

import java.util.Collection;
import java.util.Iterator;
import java.util.List;

/**
 * Modules by their place. It computes nothing by itself.
 *
 * <pre>{@code
 * class Deep extends Module {
 *     private final ModuleList layers = registerModule("layers", new ModuleList(new Linear(4, 4), new Linear(4, 4)));
 *
 *     @Override
 *     public Tensor forward(Tensor x) {
 *         for (Module layer : layers) {
 *             x = layer.forward(x).relu();
 *         }
 *         return x;
 *     }
 * }
 * try (Deep net = new Deep()) {
 *     System.out.println(net.parameters().size()); // 4
 * }
 * }</pre>
 */
public final class ModuleList extends Module implements Iterable<Module> {
    /**
     * A list of modules.
     *
     * @param modules the modules, first to last
     */
    public ModuleList(Module... modules) {
        this(List.of(modules));
    }

    /**
     * A list of modules.
     *
     * @param modules the modules, first to last
     */
    public ModuleList(Collection<? extends Module> modules) {
        modules.forEach(this::append);
    }

    /**
     * Adds a module at the end.
     *
     * @param module the module
     * @return this list
     */
    public ModuleList append(Module module) {
        registerModule(Integer.toString(size()), module);
        return this;
    }

    /**
     * Adds modules at the end.
     *
     * @param modules the modules
     * @return this list
     */
    public ModuleList extend(Iterable<? extends Module> modules) {
        checkOpen();
        modules.forEach(this::append);
        return this;
    }

    /**
     * The module at a place.
     *
     * @param index the place; negative numbers count from the end
     * @return the module
     * @throws IndexOutOfBoundsException if there is no such place
     */
    public Module get(int index) {
        return Places.get(List.copyOf(namedChildren().values()), index, "ModuleList");
    }

    /**
     * Number of modules.
     *
     * @return the number
     */
    public int size() {
        return namedChildren().size();
    }

    /** The modules, first to last. */
    @Override
    public Iterator<Module> iterator() {
        return List.copyOf(namedChildren().values()).iterator();
    }
}
