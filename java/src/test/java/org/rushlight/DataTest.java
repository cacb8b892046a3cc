package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.data.DataLoader;
import org.rushlight.data.Dataset;
import org.rushlight.data.Example;
import org.rushlight.data.Idx;
import org.rushlight.data.MNIST;
import org.rushlight.data.TensorDataset;
import org.rushlight.data.Transforms;

class DataTest {
    /** Ten examples: number i, and its square. */
    static TensorDataset squares() {
        try (Tensor numbers = Torch.arange(0, 10); Tensor squares = numbers.mul(numbers)) {
            return new TensorDataset(numbers, squares);
        }
    }

    private static List<long[]> targets(DataLoader<Example, Example> loader) {
        List<long[]> batches = new ArrayList<>();
        for (Example batch : loader) {
            try (Scope scope = new Scope()) {
                assert scope != null;
                assertArrayEquals(batch.target().toLongArray(), batch.data().mul(batch.data()).toLongArray());
                batches.add(batch.target().toLongArray());
            }
        }
        return batches;
    }

    @Test
    void batchesComeInOrderWithAnyNumberOfWorkers() {
        for (int workers : new int[] {0, 1, 4}) {
            Leaks.none(() -> {
                List<DataLoader.Progress> heard = new ArrayList<>();
                // The first examples take longest, so that the order is not a coincidence.
                try (Dataset<Example> slow = squares().map(DataTest::slowAtFirst); DataLoader<Example, Example> loader = DataLoader.of(
                        slow, new DataLoader.Options(3).withWorkers(workers).withListener(heard::add))) {
                    for (int epoch = 0; epoch < 3; epoch++) {
                        List<long[]> batches = targets(loader);
                        assertArrayEquals(new long[] {0, 1, 4}, batches.get(0));
                        assertArrayEquals(new long[] {9, 16, 25}, batches.get(1));
                        assertArrayEquals(new long[] {81}, batches.get(3));
                        assertEquals(4, batches.size());
                    }
                }
                assertEquals(12, heard.size());
                assertEquals(List.of(1L, 2L, 3L, 4L, 1L), heard.stream().limit(5).map(DataLoader.Progress::batch).toList());
                assertEquals(List.of(3L, 6L, 9L, 10L), heard.stream().limit(4).map(DataLoader.Progress::examples).toList());
            });
        }
    }

    private static Example slowAtFirst(Example example) {
        try {
            Thread.sleep(10 - example.data().item().longValue());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return example;
    }

    @Test
    void shufflingHasTheOrderOfPyTorch() {
        Leaks.none(() -> {
            Torch.manualSeed(4);
            Tensor order = Torch.randperm(10);
            Torch.manualSeed(4);
            try (TensorDataset squares = squares(); DataLoader<Example, Tensor> loader = DataLoader.of(squares,
                    examples -> Torch.stack(examples.stream().map(Example::data).toArray(Tensor[]::new)),
                    new DataLoader.Options(4).withShuffle(true).withDropLast(true).withWorkers(2))) {
                List<Tensor> batches = new ArrayList<>();
                loader.forEach(batch -> batches.add(batch.share()));
                assertEquals(2, batches.size());
                assertArrayEquals(order.narrow(0, 0, 8).toLongArray(), Torch.cat(batches.toArray(Tensor[]::new)).toLongArray());
            }
        });
    }

    @Test
    void tensorsOfTheDatasetStayItsOwn() {
        Leaks.none(() -> {
            Tensor own = Torch.ones(3).unscoped();
            Dataset<Tensor> dataset = new Dataset<>() {
                @Override
                public Tensor get(long index) {
                    return own;
                }

                @Override
                public long size() {
                    return 2;
                }
            };
            try (own; DataLoader<Tensor, List<Tensor>> loader = DataLoader.of(dataset, list -> list, new DataLoader.Options(1).withWorkers(1))) {
                for (List<Tensor> batch : loader) {
                    try (Scope scope = new Scope()) {
                        assert scope != null;
                        assertSame(own, batch.get(0));
                    }
                }
                assertFalse(own.isClosed());
            }
        });
    }

    @Test
    void transformsChangeDataOrTarget() {
        Leaks.none(() -> {
            try (TensorDataset squares = squares()) {
                Example example = squares.map(Transforms.data(Transforms.normalize(1, 2))).map(Transforms.target(Tensor::neg)).get(5);
                assertEquals(2, example.data().item().doubleValue());
                assertEquals(-25, example.target().item().longValue());
                Tensor image = Torch.ones(2, 1, 2);
                Tensor normal = Transforms.normalize(new double[] {0, 3}, new double[] {0.5, 2}).apply(image);
                assertArrayEquals(new float[] {2, 2, -1, -1}, normal.toFloatArray());
            }
            assertThrows(TensorValueException.class, () -> new TensorDataset(Torch.ones(2), Torch.ones(3)));
        });
    }

    private static byte[] idx(int[] shape, byte... content) {
        ByteBuffer bytes = ByteBuffer.allocate(4 + 4 * shape.length + content.length);
        bytes.putInt(0x800 | shape.length);
        for (int size : shape) {
            bytes.putInt(size);
        }
        return bytes.put(content).array();
    }

    @Test
    void digitsAreReadFromIdxFiles(@TempDir Path folder) throws IOException {
        Files.write(folder.resolve("train-images-idx3-ubyte"), idx(new int[] {2, 1, 2}, (byte) 0, (byte) 255, (byte) 51, (byte) 102));
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(folder.resolve("train-labels-idx1-ubyte.gz")))) {
            out.write(idx(new int[] {2}, (byte) 7, (byte) 3));
        }
        Leaks.none(() -> {
            try (MNIST digits = new MNIST(folder, MNIST.Mode.TRAIN)) {
                assertEquals(2, digits.size());
                assertArrayEquals(new long[] {2, 1, 1, 2}, digits.images().shape());
                assertArrayEquals(new float[] {0.2f, 0.4f}, digits.get(1).data().toFloatArray(), 1e-7f);
                assertEquals(3, digits.get(1).target().item().longValue());
            }
            assertThrows(RushlightIOException.class, () -> new MNIST(folder, MNIST.Mode.TEST));
        });
        byte[][] broken = {
            {}, {0, 0, 8}, {1, 0, 8, 1, 0, 0, 0, 0}, {0, 0, 9, 1, 0, 0, 0, 0}, idx(new int[] {3}, (byte) 1), idx(new int[] {1}, (byte) 1, (byte) 2),
            idx(new int[] {-1}), idx(new int[] {1 << 30, 1 << 30}), {0, 0, 8, 2, 0, 0, 0, 1},
        };
        for (byte[] content : broken) {
            Path file = folder.resolve("broken");
            Files.write(file, content);
            assertThrows(RushlightIOException.class, () -> Idx.read(file), java.util.Arrays.toString(content));
        }
    }
}
