package org.rushlight;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * Reads and writes checkpoints: PyTorch's {@code .pt} files as nested values, with the epoch, learning rates and strings
 * beside tensors. {@code torch.load(path, weights_only=True)} reads a saved one.
 *
 * <pre>{@code
 * try (AdamW optimizer = new AdamW(model.parameters())) {
 *     Checkpoint.save(Map.of("model", model.stateDict(), "optimizer", optimizer.checkpoint(), "epoch", 3), folder.resolve("all.pt"));
 *     Map<String, IValue> all = Checkpoint.load(folder.resolve("all.pt")).toStringDict();
 *     model.loadStateDict(StateDict.of(all.get("model")));
 *     optimizer.loadCheckpoint(all.get("optimizer"));
 *     System.out.println(all.get("epoch").toLong()); // 3
 * }
 * }</pre>
 *
 * <p>{@link StateDict#load} reads the tensors of such a file alone, under names joined by dots.
 */
public final class Checkpoint {
    private Checkpoint() {}

    /**
     * Writes a value to a file, which is replaced atomically.
     *
     * @param value the value, as in {@link IValue#of}: usually a map. A dtype stays one. Keys of maps are strings and
     *     integers
     * @param file the file to write
     * @throws RushlightIOException if the file cannot be written
     * @throws TensorTypeException if files have no such value
     */
    public static void save(@Nullable Object value, Path file) {
        if (!FileNames.reachNative(file)) {
            try (Tensor bytes = bytes(value)) {
                FileNames.write(file, bytes.toByteArray());
            }
            return;
        }
        Boxed boxed = Boxed.arguments(value);
        NativeOwner[] held = boxed.held();
        NativeOwner.acquire(held);
        try {
            NativeCore.saveCheckpoint(file.toString(), boxed.numbers(), boxed.strings());
        } finally {
            NativeOwner.release(held);
        }
    }

    /**
     * Writes a value to a stream, which stays open.
     *
     * @param value the value, as in {@link #save(Object, Path)}
     * @param out the stream
     * @throws RushlightIOException if the stream cannot be written
     * @throws TensorTypeException if files have no such value
     */
    public static void save(@Nullable Object value, OutputStream out) {
        try (Tensor bytes = bytes(value)) {
            StateDict.write(bytes, out);
        } catch (IOException e) {
            throw StateDict.failed("cannot write a checkpoint", e);
        }
    }

    /** A file in memory. */
    private static Tensor bytes(@Nullable Object value) {
        Boxed boxed = Boxed.arguments(value);
        NativeOwner[] held = boxed.held();
        NativeOwner.acquire(held);
        try {
            return Tensor.wrap(NativeCore.checkpointBytes(boxed.numbers(), boxed.strings()));
        } finally {
            NativeOwner.release(held);
        }
    }

    /**
     * Reads the value of a file. Its tensors join the innermost scope.
     *
     * @param file the file, which {@link #save} or {@code torch.save} wrote
     * @return the value: for most files a dict
     * @throws RushlightIOException if the file cannot be read or parsed
     */
    public static IValue load(Path file) {
        if (FileNames.reachNative(file)) {
            return loaded(NativeCore.loadCheckpoint(file.toString()));
        }
        try (InputStream in = Files.newInputStream(file)) {
            return load(in);
        } catch (IOException e) {
            throw StateDict.failed("cannot read " + file.toUri(), e);
        }
    }

    /**
     * Reads the value of a stream to its end. Its tensors join the innermost scope.
     *
     * @param in a file of less than 2 GiB; the stream stays open
     * @return the value
     * @throws RushlightIOException if the stream cannot be read or parsed
     */
    public static IValue load(InputStream in) {
        try {
            return load(in.readAllBytes());
        } catch (IOException e) {
            throw StateDict.failed("cannot read a checkpoint", e);
        }
    }

    /**
     * Reads the value of a file in memory. Its tensors join the innermost scope.
     *
     * @param file the file
     * @return the value
     * @throws RushlightIOException if the bytes cannot be parsed
     */
    public static IValue load(byte[] file) {
        try (Tensor bytes = Tensor.ofBytes(file, file.length)) {
            Tensor.acquire(bytes);
            try {
                return loaded(NativeCore.loadCheckpointBytes(bytes.handle()));
            } finally {
                Tensor.release(bytes);
            }
        }
    }

    private static IValue loaded(Object[] encoded) {
        @Nullable Object[] values = Boxed.values((long[]) Objects.requireNonNull(encoded[0]), (String[]) Objects.requireNonNull(encoded[1]));
        return IValue.received(values[0]);
    }
}
