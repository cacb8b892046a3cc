package org.rushlight.nn;

import java.util.Map;
import org.rushlight.Tensor;

/** Modules one after the other. */
public final class Sequential extends Module {
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

    @Override
    public Tensor forward(Tensor input) {
        Tensor value = input;
        for (Module module : namedChildren().values()) {
            value = module.forward(value);
        }
        return value;
    }
}
