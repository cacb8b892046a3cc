package org.rushlight.data;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.rushlight.RushlightIOException;
import org.rushlight.Tensor;

/**
 * Reads files in the format of MNIST: unsigned bytes with a shape (IDX).
 *
 * <pre>{@code
 * System.out.println(Idx.read(folder.resolve("train-labels-idx1-ubyte"))); // tensor([4, 2], dtype=torch.uint8)
 * }</pre>
 */
public final class Idx {
    private static final int UNSIGNED_BYTES = 8;

    private Idx() {}

    /**
     * Reads a file of unsigned bytes; decompresses it if its name ends with {@code .gz}.
     *
     * @param file the file
     * @return a uint8 tensor
     * @throws RushlightIOException if the file cannot be read or has another format
     */
    public static Tensor read(Path file) {
        try (InputStream raw = Files.newInputStream(file);
                InputStream plain = file.toString().endsWith(".gz") ? new GZIPInputStream(raw) : raw;
                DataInputStream in = new DataInputStream(new BufferedInputStream(plain))) {
            int magic = in.readInt();
            int dims = magic & 0xff;
            check(magic >>> 16 == 0 && dims > 0, file, "it does not begin like an IDX file");
            check((magic >>> 8 & 0xff) == UNSIGNED_BYTES, file, "it has elements that are no unsigned bytes");
            long[] shape = new long[dims];
            long count = 1;
            for (int i = 0; i < dims; i++) {
                shape[i] = in.readInt();
                check(shape[i] >= 0, file, "it has a negative size");
                count *= shape[i];
                check(count <= Integer.MAX_VALUE - 8, file, "it has too many elements");
            }
            // Read incrementally: the size in the header must not determine the allocation.
            byte[] bytes = in.readNBytes((int) count);
            check(bytes.length == count, file, "it ends after " + bytes.length + " of " + count + " elements");
            check(in.read() < 0, file, "it goes on after its elements");
            return Tensor.ofBytes(bytes, shape);
        } catch (EOFException e) {
            throw new RushlightIOException("cannot read " + file + ": it ends in its header");
        } catch (NoSuchFileException e) {
            throw new RushlightIOException("cannot open " + file + ": there is no such file");
        } catch (IOException e) {
            throw new RushlightIOException("cannot read " + file + ": " + e.getMessage());
        }
    }

    private static void check(boolean fine, Path file, String message) {
        if (!fine) {
            throw new RushlightIOException("cannot read " + file + ": " + message);
        }
    }
}
