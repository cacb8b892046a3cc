package org.rushlight.nn;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;

/**
 * Calls modules in sequence.
 *
 * <pre>{@code
 * try (Sequential net = new Sequential(new Linear(4, 8), new ReLU(), new Linear(8, 3))) {
 *     System.out.println(Arrays.toString(net.forward(Torch.ones(2, 4)).shape())); // [2, 3]
 * }
 * }</pre>
 */
public final class Sequential extends Module implements Iterable<Module> {
    /**
     * Creates a sequence with modules named by position.
     *
     * @param modules the modules, first to last
     */
    public Sequential(Module... modules) {
        for (int i = 0; i < modules.length; i++) {
            registerModule(Integer.toString(i), modules[i]);
        }
    }

    /**
     * Creates a sequence with named modules.
     *
     * @param modules the modules by name, in the order of the map
     */
    public Sequential(Map<String, Module> modules) {
        modules.forEach(this::registerModule);
    }

    /**
     * Appends a module, named by its position.
     *
     * @param module the module
     * @return this module
     */
    public Sequential append(Module module) {
        registerModule(Integer.toString(size()), module);
        return this;
    }

    /**
     * Appends modules, named by their positions.
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
     * Returns a module by index.
     *
     * @param index the index; negative counts from the end
     * @return the module
     * @throws IndexOutOfBoundsException if the index is out of range
     */
    public Module get(int index) {
        return Places.get(List.copyOf(namedChildren().values()), index, "Sequential");
    }

    /** Returns the modules in order. */
    @Override
    public Iterator<Module> iterator() {
        return List.copyOf(namedChildren().values()).iterator();
    }

    /**
     * Returns the number of modules.
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
