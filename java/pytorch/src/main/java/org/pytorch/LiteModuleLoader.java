package org.pytorch;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Loads modules that were saved for the lite interpreter, with {@code _save_for_lite_interpreter}. */
public final class LiteModuleLoader {
    private LiteModuleLoader() {}

    /**
     * Loads a module and its extra files.
     *
     * @param modelPath the name of a file
     * @param extraFiles the names of extra files, which get their contents as values; those that the file lacks stay as
     *     they are. Null for none
     * @param device the device that runs it
     * @return the module, in evaluation mode
     * @throws RuntimeException if the file cannot be read, or is no saved model
     */
    public static Module load(String modelPath, @Nullable Map<String, String> extraFiles, Device device) {
        return Module.load(modelPath, extraFiles, device);
    }

    /**
     * Loads a module.
     *
     * @param modelPath the name of a file
     * @return the module, in evaluation mode
     * @throws RuntimeException if the file cannot be read, or is no saved model
     */
    public static Module load(String modelPath) {
        return Module.load(modelPath);
    }
}
