package org.rushlight;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
        Tensor[] values = values(tensors);
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
     * Names that source and target of a copy do not share.
     *
     * @param missing names that the target has
     * @param unexpected names that the source has
     */
    public record Incompatible(List<String> missing, List<String> unexpected) {}

    /**
     * Copies tensors into those of the same names, without recording: what {@code load_state_dict} does. Faults are told all at once, and
     * then nothing is written.
     *
     * @param source tensors by name
     * @param target tensors by name, which are written
     * @param model name of the model, for messages
     * @param strict the names must be the same; else others are left alone on both sides
     * @return what was left alone
     * @throws RushlightException if a name is missing or unexpected though it must not, or a shape differs
     */
    public static Incompatible copy(Map<String, Tensor> source, Map<String, Tensor> target, String model, boolean strict) {
        String[] sourceNames = source.keySet().toArray(String[]::new);
        String[] targetNames = target.keySet().toArray(String[]::new);
        Tensor[] sources = values(source);
        Tensor[] targets = values(target);
        Tensor[] held = Tensor.concat(sources, targets);
        Tensor.acquire(held);
        try {
            Object[] left = NativeCore.copyState(
                sourceNames, Tensor.handles(sources), targetNames, Tensor.handles(targets), model, strict);
            return new Incompatible(names(targetNames, (long[]) left[0]), names(sourceNames, (long[]) left[1]));
        } finally {
            Tensor.release(held);
        }
    }

    private static Tensor[] values(Map<String, Tensor> tensors) {
        tensors.forEach((name, tensor) -> Objects.requireNonNull(tensor, () -> "the tensor '" + name + "' of the state dict is null"));
        return tensors.values().toArray(Tensor[]::new);
    }

    private static List<String> names(String[] all, long[] places) {
        return Arrays.stream(places).mapToObj(place -> all[(int) place]).toList();
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
