package org.rushlight;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.rushlight.internal.NativeCore;

/**
 * Tensors by name in files: PyTorch's {@code .pt} state dicts and safetensors.
 *
 * <pre>{@code
 * StateDict.save(Map.of("w", Tensor.of(1f, 2f)), folder.resolve("w.pt")); // torch.load reads it
 * System.out.println(StateDict.load(folder.resolve("w.pt"))); // {w=tensor([1., 2.])}
 * }</pre>
 */
public final class StateDict {
    /** Bytes that are copied at once from native memory. */
    private static final int CHUNK = 1 << 20;

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
        if (file.getFileSystem() == FileSystems.getDefault()) {
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
        // What it holds first: a fault of the tensors leaves the file as it was.
        try (Tensor bytes = bytes(tensors, format == Format.AUTO && file.toString().endsWith(".safetensors") ? Format.SAFETENSORS : format);
                OutputStream out = Files.newOutputStream(file)) {
            write(bytes, out);
        } catch (IOException e) {
            throw failed("cannot write " + file.toUri(), e);
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
     * Writes tensors to a stream, which is left open.
     *
     * <pre>{@code
     * var out = new java.io.ByteArrayOutputStream();
     * StateDict.save(model.stateDict(), out, StateDict.Format.SAFETENSORS);
     * System.out.println(StateDict.load(out.toByteArray()).keySet()); // [1.bias, 1.weight]
     * }</pre>
     *
     * @param tensors tensors by name
     * @param out where to
     * @param format how; {@link Format#AUTO} is PyTorch's
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

    private static void write(Tensor bytes, OutputStream out) throws IOException {
        long length = bytes.numel();
        for (long at = 0; at < length; at += CHUNK) {
            try (Tensor part = bytes.slice(0, at, Math.min(at + CHUNK, length), 1)) {
                out.write(part.toByteArray());
            }
        }
    }

    private static RushlightIOException failed(String what, IOException cause) {
        RushlightIOException failed = new RushlightIOException(what + ": " + cause);
        failed.initCause(cause);
        return failed;
    }

    /**
     * Reads tensors from a file. They join the innermost scope.
     *
     * @param file where from; it may lie in a jar that a {@link java.nio.file.FileSystem} is open for
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the file cannot be read or understood
     */
    public static Map<String, Tensor> load(Path file) {
        if (file.getFileSystem() == FileSystems.getDefault()) {
            return named(NativeCore.loadStateDict(file.toString()));
        }
        try (InputStream in = Files.newInputStream(file)) {
            return load(in);
        } catch (IOException e) {
            throw failed("cannot read " + file.toUri(), e);
        }
    }

    /**
     * Reads tensors from a stream to its end, as from a resource in a jar: {@code load(Net.class.getResourceAsStream("net.pt"))}. They
     * join the innermost scope.
     *
     * @param in a {@code .pt} or safetensors file of less than 2 GiB; it is left open
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the stream cannot be read or understood
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
     * @throws RushlightIOException if the bytes cannot be understood
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
     * Reads tensors from a file in memory, from the position of a buffer to its limit, which stay. They join the innermost scope.
     *
     * @param file a {@code .pt} or safetensors file
     * @return tensors by name, in the order of the file
     * @throws RushlightIOException if the bytes cannot be understood
     */
    public static Map<String, Tensor> load(ByteBuffer file) {
        byte[] bytes = new byte[file.remaining()];
        file.duplicate().get(bytes);
        return load(bytes);
    }

    private static Map<String, Tensor> named(Object[] loaded) {
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
