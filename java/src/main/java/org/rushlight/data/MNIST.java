package org.rushlight.data;

import java.nio.file.Files;
import java.nio.file.Path;
import org.rushlight.DType;
import org.rushlight.RushlightIOException;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/**
 * Handwritten digits, or other data sets in the same format ({@code train-images-idx3-ubyte}, {@code
 * t10k-labels-idx1-ubyte}, ..., also with {@code .gz}): images {@code (1, H, W)} with values from 0 to 1, and class
 * labels.
 *
 * <pre>{@code
 * try (MNIST digits = new MNIST(folder, MNIST.Mode.TRAIN)) {
 *     System.out.println(digits.size() + " " + digits.get(0).target()); // 2 tensor(4)
 * }
 * }</pre>
 */
public final class MNIST implements Dataset<Example> {
    private final TensorDataset examples;

    /** The part of the data set to read. */
    public enum Mode {
        /** The training set. */
        TRAIN("train"),
        /** The test set. */
        TEST("t10k");

        private final String prefix;

        Mode(String prefix) {
            this.prefix = prefix;
        }
    }

    /**
     * Reads the files of a folder.
     *
     * @param folder the folder
     * @param mode which part
     * @throws RushlightIOException if they cannot be read, or do not match each other
     */
    public MNIST(Path folder, Mode mode) {
        try (Scope scope = new Scope()) {
            assert scope != null;
            Path file = file(folder, mode.prefix + "-images-idx3-ubyte");
            Tensor images = Idx.read(file);
            Tensor labels = Idx.read(file(folder, mode.prefix + "-labels-idx1-ubyte"));
            if (images.dim() != 3 || labels.dim() != 1 || images.size(0) != labels.size(0)) {
                throw new RushlightIOException("cannot read " + file + ": images and labels do not fit together");
            }
            examples = new TensorDataset(images.unsqueeze(1).to(DType.FLOAT32).div(255), labels.to(DType.INT64));
        }
    }

    private static Path file(Path folder, String name) {
        Path packed = folder.resolve(name + ".gz");
        return Files.exists(packed) && !Files.exists(folder.resolve(name)) ? packed : folder.resolve(name);
    }

    @Override
    public Example get(long index) {
        return examples.get(index);
    }

    @Override
    public long size() {
        return examples.size();
    }

    /**
     * Returns all images, of shape {@code (N, 1, H, W)}.
     *
     * @return a tensor owned by this dataset
     */
    public Tensor images() {
        return examples.data();
    }

    /**
     * Returns all labels, of shape {@code (N)}.
     *
     * @return a tensor owned by this dataset
     */
    public Tensor targets() {
        return examples.targets();
    }

    @Override
    public void close() {
        examples.close();
    }
}
