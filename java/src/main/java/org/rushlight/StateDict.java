package org.rushlight;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.rushlight.internal.NativeCore;

/**
 * Reads and writes named tensors in files: PyTorch's {@code .pt} state dicts and safetensors.
 *
 * <pre>{@code
 * StateDict.save(Map.of("w", Tensor.of(1f, 2f)), folder.resolve("w.pt")); // torch.load reads it
 * System.out.println(StateDict.load(folder.resolve("w.pt"))); // {w=tensor([1., 2.])}
 * }</pre>
 */
public final class StateDict {
    /** Number of bytes copied at once from native memory. */
    private static final int CHUNK = 1 << 20;

    /** Format of a file. */
    public enum Format {
        /** Safetensors if the file name has that extension, otherwise PyTorch's format. */
        AUTO,
        /** PyTorch's zip archive with a pickle. */
        PT,
        /** Safetensors. */
        SAFETENSORS
    }

    private StateDict() {}

    /**
     * Writes tensors to a file.
     *
     * @param tensors tensors by name, in the order of the file
     * @param file the file to write
     * @param format the format
     * @throws RushlightIOException if the file cannot be written
     */
    public static void save(Map<String, Tensor> tensors, Path file, Format format) {
        if (FileNames.reachNative(file)) {
            String[] names = tensors.keySet().toArray(String[]::new);
            Tensor[] values = values(tensors);
            Tensor.acquire(values);
            try {
                NativeCore.saveStateDict(file.toString(), names, Tensor.handles(values), format.ordinal());
            } finally {
                Tensor.release(values);
            }
            return;
        }
        // Serialize first: an error in the tensors leaves the file unchanged.
        try (Tensor bytes = bytes(tensors, format == Format.AUTO && file.toString().endsWith(".safetensors") ? Format.SAFETENSORS : format);
                OutputStream out = Files.newOutputStream(file)) {
            write(bytes, out);
        } catch (IOException e) {
            throw failed("cannot write " + file.toUri(), e);
        }
    }

    /**
     * Writes tensors to a file, in the format of its extension ({@code .safetensors}, otherwise PyTorch's).
     *
     * @param tensors tensors by name
     * @param file the file to write
     * @throws RushlightIOException if the file cannot be written
     */
    public static void save(Map<String, Tensor> tensors, Path file) {
        save(tensors, file, Format.AUTO);
    }

    /**
     * Writes tensors to a stream, which stays open.
     *
     * <pre>{@code
     * var out = new java.io.ByteArrayOutputStream();
     * StateDict.save(model.stateDict(), out, StateDict.Format.SAFETENSORS);
     * System.out.println(StateDict.load(out.toByteArray()).keySet()); // [1.bias, 1.weight]
     * }</pre>
     *
     * @param tensors tensors by name
     * @param out the stream
     * @param format the format; {@link Format#AUTO} is PyTorch's
     * @throws RushlightIOException if the stream cannot be written
     */
    public static void save(Map<String, Tensor> tensors, OutputStream out, Format format) {
        try (Tensor bytes = bytes(tensors, format)) {
            write(bytes, out);
        } catch (IOException e) {
            throw failed("cannot write a state dict", e);
        }
    }

    /** A file in memory. */
    private static Tensor bytes(Map<String, Tensor> tensors, Format format) {
        String[] names = tensors.keySet().toArray(String[]::new);
        Tensor[] values = values(tensors);
        Format how = format == Format.AUTO ? Format.PT : format;
        Tensor.acquire(values);
        try {
            return Tensor.wrap(NativeCore.stateDictBytes(names, Tensor.handles(values), how.ordinal()));
        } finally {
            Tensor.release(values);
        }
    }

    static void write(Tensor bytes, OutputStream out) throws IOException {
        long length = bytes.numel();
        for (long at = 0; at < length; at += CHUNK) {
            try (Tensor part = bytes.slice(0, at, Math.min(at + CHUNK, length), 1)) {
                out.write(part.toByteArray());
            }
        }
    }

    static RushlightIOException failed(String what, IOException cause) {
        RushlightIOException failed = new RushlightIOException(what + ": " + cause);
        failed.initCause(cause);
        return failed;
    }

    /**
     * Reads tensors from a file. They join the innermost scope.
     *
     * @param file the file to read; it may be in a jar that is open as a {@link java.nio.file.FileSystem}
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the file cannot be read or parsed
     */
    public static Map<String, Tensor> load(Path file) {
        if (FileNames.reachNative(file)) {
            return named(NativeCore.loadStateDict(file.toString()));
        }
        try (InputStream in = Files.newInputStream(file)) {
            return load(in);
        } catch (IOException e) {
            throw failed("cannot read " + file.toUri(), e);
        }
    }

    /**
     * Reads tensors from a stream to its end, for example a resource in a jar: {@code
     * load(Net.class.getResourceAsStream("net.pt"))}. They join the innermost scope.
     *
     * @param in a {@code .pt} or safetensors file of less than 2 GiB; the stream stays open
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the stream cannot be read or parsed
     */
    public static Map<String, Tensor> load(InputStream in) {
        try {
            return load(in.readAllBytes());
        } catch (IOException e) {
            throw failed("cannot read a state dict", e);
        }
    }

    /**
     * Reads tensors from a file in memory. They join the innermost scope.
     *
     * @param file a {@code .pt} or safetensors file
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the bytes cannot be parsed
     */
    public static Map<String, Tensor> load(byte[] file) {
        try (Tensor bytes = Tensor.ofBytes(file, file.length)) {
            Tensor.acquire(bytes);
            try {
                return named(NativeCore.loadStateDictBytes(bytes.handle()));
            } finally {
                Tensor.release(bytes);
            }
        }
    }

    /**
     * Reads tensors from a file in memory, from the position of a buffer to its limit, which do not change. They join
     * the innermost scope.
     *
     * @param file a {@code .pt} or safetensors file
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the bytes cannot be parsed
     */
    public static Map<String, Tensor> load(ByteBuffer file) {
        byte[] bytes = new byte[file.remaining()];
        file.duplicate().get(bytes);
        return load(bytes);
    }

    /** Tensors by name, of a String[] and a long[] of handles. */
    static Map<String, Tensor> named(Object[] loaded) {
        String[] names = (String[]) loaded[0];
        Tensor[] values = Tensor.wrapAll((long[]) loaded[1]);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (int i = 0; i < names.length; i++) {
            tensors.put(names[i], values[i]);
        }
        return tensors;
    }

    /**
     * Names that only the source or only the target of a copy has.
     *
     * @param missing names of the target without a source
     * @param unexpected names of the source without a target
     */
    public record Incompatible(List<String> missing, List<String> unexpected) {}

    /**
     * Copies tensors into those of the same names, without recording, like {@code load_state_dict}. All mismatches are
     * reported at once, and then nothing is written.
     *
     * @param source tensors by name
     * @param target tensors by name, which are overwritten
     * @param model name of the model, for messages
     * @param strict whether the names must match; otherwise names without a counterpart are ignored
     * @return the ignored names
     * @throws RushlightException if a name is missing or unexpected with {@code strict}, or shapes differ
     */
    public static Incompatible copy(Map<String, Tensor> source, Map<String, Tensor> target, String model, boolean strict) {
        String[] sourceNames = source.keySet().toArray(String[]::new);
        String[] targetNames = target.keySet().toArray(String[]::new);
        Tensor[] sources = values(source);
        Tensor[] targets = values(target);
        NativeOwner[] held = Tensor.concat(sources, targets);
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
     * Returns the tensors of a dict of tensors, such as the state dict of a model in a {@link Checkpoint}. Keys of dicts in
     * dicts are joined by dots.
     *
     * @param value a dict of tensors, or of such dicts
     * @return the tensors by name
     * @throws TensorTypeException if there is another value in it
     */
    public static Map<String, Tensor> of(IValue value) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        value.toDict().forEach((key, item) -> {
            if (item.kind() == IValue.Kind.DICT) {
                of(item).forEach((name, tensor) -> tensors.put(key + "." + name, tensor));
            } else {
                tensors.put(key.toString(), item.toTensor());
            }
        });
        return tensors;
    }

    /**
     * Returns the tensors below a name, as in {@code under(checkpoint, "model")} for a checkpoint {@code {"model":
     * model.state_dict(), "optimizer": optimizer.state_dict()}}.
     *
     * @param tensors tensors by dotted name
     * @param name the name
     * @return the tensors whose names begin with it and a dot, without that prefix
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
     * Puts several state dicts into one, each below its name: the inverse of {@link #under}.
     *
     * <pre>{@code
     * try (AdamW optimizer = new AdamW(model.parameters())) {
     *     StateDict.save(StateDict.join(Map.of("model", model.stateDict(), "optimizer", optimizer.stateDict())), folder.resolve("all.pt"));
     * }
     * System.out.println(StateDict.under(StateDict.load(folder.resolve("all.pt")), "model").keySet()); // [1.weight, 1.bias]
     * }</pre>
     *
     * @param parts state dicts by name
     * @return the tensors, with the name of their part and a dot before their own names
     * @throws IllegalArgumentException if two tensors get the same name
     */
    public static Map<String, Tensor> join(Map<String, Map<String, Tensor>> parts) {
        Map<String, Tensor> all = new LinkedHashMap<>();
        parts.forEach((part, tensors) -> tensors.forEach((name, tensor) -> {
            if (all.put(part + "." + name, tensor) != null) {
                throw new IllegalArgumentException("two tensors have the name '" + part + "." + name + "'");
            }
        }));
        return all;
    }
}
