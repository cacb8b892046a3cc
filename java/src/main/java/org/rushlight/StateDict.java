package org.rushlight;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.rushlight.internal.NativeCore;

/** Tensors by name in files: PyTorch's {@code .pt} state dicts and safetensors. */
public final class StateDict {
    /** Format of a file. */
    public enum Format {
        /** Safetensors if the name of the file ends so, else PyTorch's. */
        AUTO,
        /** PyTorch's zip file with a pickle inside. */
        PT,
        /** Safetensors. */
        SAFETENSORS
    }

    private StateDict() {}

    /**
     * Writes tensors to a file.
     *
     * @param tensors tensors by name, in the order they shall have in the file
     * @param file where to
     * @param format how
     * @throws RushlightIOException if the file cannot be written
     */
    public static void save(Map<String, Tensor> tensors, Path file, Format format) {
        String[] names = tensors.keySet().toArray(String[]::new);
        Tensor[] values = tensors.values().toArray(Tensor[]::new);
        Tensor.acquire(values);
        try {
            NativeCore.saveStateDict(file.toString(), names, Tensor.handles(values), format.ordinal());
        } finally {
            Tensor.release(values);
        }
    }

    /**
     * Writes tensors to a file, in the format its name says ({@code .safetensors}, otherwise PyTorch's).
     *
     * @param tensors tensors by name
     * @param file where to
     * @throws RushlightIOException if the file cannot be written
     */
    public static void save(Map<String, Tensor> tensors, Path file) {
        save(tensors, file, Format.AUTO);
    }

    /**
     * Reads tensors from a file. They join the innermost scope.
     *
     * @param file where from
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the file cannot be read or understood
     */
    public static Map<String, Tensor> load(Path file) {
        Object[] loaded = NativeCore.loadStateDict(file.toString());
        String[] names = (String[]) loaded[0];
        Tensor[] values = Tensor.wrapAll((long[]) loaded[1]);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (int i = 0; i < names.length; i++) {
            tensors.put(names[i], values[i]);
        }
        return tensors;
    }

    /**
     * Part of a file: what lies under a name, as {@code under(checkpoint, "model")} of a checkpoint
     * {@code {"model": model.state_dict(), "optimizer": optimizer.state_dict()}}.
     *
     * @param tensors tensors by dotted name
     * @param name the name
     * @return the tensors whose names begin with it and a dot, without that beginning
     */
    public static Map<String, Tensor> under(Map<String, Tensor> tensors, String name) {
        Map<String, Tensor> part = new LinkedHashMap<>();
        String prefix = name + ".";
        tensors.forEach((key, tensor) -> {
            if (key.startsWith(prefix)) {
                part.put(key.substring(prefix.length()), tensor);
            }
        });
        return part;
    }

    /**
     * The opposite of {@link #under}: adds tensors under a name.
     *
     * @param tensors tensors by dotted name
     * @param name the name
     * @param into where they are added
     */
    public static void addUnder(Map<String, Tensor> tensors, String name, Map<String, Tensor> into) {
        tensors.forEach((key, tensor) -> into.put(name + "." + key, tensor));
    }
}
