package org.rushlight.nn;

import java.util.Collection;
import java.util.Iterator;
import java.util.List;

/**
 * A list of modules. It has no {@code forward}.
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
     * Creates a list of modules.
     *
     * @param modules the modules, first to last
     */
    public ModuleList(Module... modules) {
        this(List.of(modules));
    }

    /**
     * Creates a list of modules.
     *
     * @param modules the modules, first to last
     */
    public ModuleList(Collection<? extends Module> modules) {
        modules.forEach(this::append);
    }

    /**
     * Appends a module.
     *
     * @param module the module
     * @return this list
     */
    public ModuleList append(Module module) {
        registerModule(Integer.toString(size()), module);
        return this;
    }

    /**
     * Appends modules.
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
     * Returns a module by index.
     *
     * @param index the index; negative counts from the end
     * @return the module
     * @throws IndexOutOfBoundsException if the index is out of range
     */
    public Module get(int index) {
        return Places.get(List.copyOf(namedChildren().values()), index, "ModuleList");
    }

    /**
     * Returns the number of modules.
     *
     * @return the number
     */
    public int size() {
        return namedChildren().size();
    }

    /** Returns the modules in order. */
    @Override
    public Iterator<Module> iterator() {
        return List.copyOf(namedChildren().values()).iterator();
    }
}
