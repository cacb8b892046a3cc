package org.rushlight.nn;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;

/**
 * Modules one after the other.
 *
 * <pre>{@code
 * try (Sequential net = new Sequential(new Linear(4, 8), new ReLU(), new Linear(8, 3))) {
 *     System.out.println(Arrays.toString(net.forward(Torch.ones(2, 4)).shape())); // [2, 3]
 * }
 * }</pre>
 */
public final class Sequential extends Module implements Iterable<Module> {
    /**
     * Modules named by their position.
     *
     * @param modules the modules, first to last
     */
    public Sequential(Module... modules) {
        for (int i = 0; i < modules.length; i++) {
            registerModule(Integer.toString(i), modules[i]);
        }
    }

    /**
     * Modules with names.
     *
     * @param modules the modules by name, in the order of the map
     */
    public Sequential(Map<String, Module> modules) {
        modules.forEach(this::registerModule);
    }

    /**
     * Adds a module behind the others, named by its position.
     *
     * @param module the module
     * @return this module
     */
    public Sequential append(Module module) {
        registerModule(Integer.toString(size()), module);
        return this;
    }

    /**
     * Adds modules behind the others, named by their positions.
     *
     * @param modules the modules
     * @return this module
     */
    public Sequential extend(Iterable<? extends Module> modules) {
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
        return Places.get(List.copyOf(namedChildren().values()), index, "Sequential");
    }

    /** The modules, first to last. */
    @Override
    public Iterator<Module> iterator() {
        return List.copyOf(namedChildren().values()).iterator();
    }

    /**
     * Number of modules.
     *
     * @return the number
     */
    public int size() {
        return namedChildren().size();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        Tensor value = input;
        for (Module module : namedChildren().values()) {
            value = module.forward(value);
        }
        return value;
    }
}
