package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.data.BatchSampler;
import org.rushlight.data.DataLoader;
import org.rushlight.data.Dataset;
import org.rushlight.data.DistributedSampler;
import org.rushlight.data.Example;
import org.rushlight.data.RandomSampler;
import org.rushlight.data.Sampler;
import org.rushlight.data.SubsetRandomSampler;
import org.rushlight.data.TensorDataset;
import org.rushlight.data.WeightedRandomSampler;

/** Samplers return PyTorch's indices (tests/oracle/samplers.py), and a loader continues an epoch at a saved position. */
class SamplersTest {
    private static final Path EXPECTED = Path.of("..", "tests", "data", "samplers.expected.txt");
    private static final int SIZE = 50;
    private static final double[] WEIGHTS = IntStream.range(0, SIZE).mapToDouble(i -> i % 7).toArray();
    private static final long[] SUBSET = LongStream.range(0, 7).map(i -> i * i).toArray();

    private static Sampler random(String name, @Nullable Generator generator) {
        RandomSampler.Options given = new RandomSampler.Options();
        RandomSampler.Options options = generator == null ? given : given.withGenerator(generator);
        return switch (name) {
            case "random" -> new RandomSampler(options);
            case "random 120" -> new RandomSampler(options.withNumSamples(120));
            case "replacement" -> new RandomSampler(options.withReplacement(true));
            case "replacement 70" -> new RandomSampler(options.withReplacement(true).withNumSamples(70));
            case "subset" -> new SubsetRandomSampler(SUBSET, generator);
            case "weighted" -> new WeightedRandomSampler(WEIGHTS, 20, true, generator);
            case "weighted once" -> new WeightedRandomSampler(WEIGHTS, 20, false, generator);
            default -> throw new AssertionError(name);
        };
    }

    private static Sampler distributed(String[] words) {
        DistributedSampler sampler = new DistributedSampler(new DistributedSampler.Options(Integer.parseInt(words[2]), Integer.parseInt(words[3]))
            .withShuffle(words[4].equals("True")).withSeed(11).withDropLast(words[5].equals("True")));
        sampler.setEpoch(Long.parseLong(words[6]));
        return sampler;
    }

    private static String text(long[] indices) {
        return Arrays.stream(indices).mapToObj(Long::toString).collect(Collectors.joining(" "));
    }

    @Test
    void ordersAreThoseOfPyTorch() throws IOException {
        List<String> lines = Files.readAllLines(EXPECTED);
        assertTrue(lines.size() > 150, lines.size() + " lines");
        Leaks.none(() -> {
            try (Generator generator = new Generator(0)) {
                Map<String, Sampler> made = new HashMap<>();
                for (String line : lines) {
                    String name = line.substring(0, line.indexOf(':'));
                    String expected = line.substring(line.indexOf(':') + 1).strip();
                    String[] words = name.split(" ");
                    if (words[0].equals("batches")) {
                        assertEquals(expected, BatchSampler.of(Sampler.sequential(), 4, words[1].equals("True")).batches(11).stream()
                            .map(SamplersTest::text).collect(Collectors.joining(" | ")));
                        continue;
                    }
                    if (words[0].equals("distributed")) {
                        assertEquals(expected, text(distributed(words).order(Long.parseLong(words[1]))), name);
                        continue;
                    }
                    // Two epochs of one sampler follow each other.
                    String kind = name.replaceAll(" (generator|default) \\d", "");
                    boolean own = name.contains("generator");
                    Sampler sampler = made.computeIfAbsent(kind + own, key -> {
                        generator.manualSeed(3);
                        Torch.manualSeed(5);
                        return random(kind, own ? generator : null);
                    });
                    assertEquals(expected, text(sampler.order(SIZE)), name);
                }
                assertEquals(14, made.size());
            }
        });
    }

    @Test
    void argumentsAreChecked() {
        assertEquals("num_samples should be a positive integer value, but got num_samples=0",
            assertThrows(IllegalArgumentException.class, () -> new RandomSampler.Options().withNumSamples(0)).getMessage());
        assertEquals("num_samples should be a positive integer value, but got num_samples=-2",
            assertThrows(IllegalArgumentException.class, () -> new WeightedRandomSampler(WEIGHTS, -2)).getMessage());
        assertEquals("Invalid rank 3, rank should be in the interval [0, 2]",
            assertThrows(IllegalArgumentException.class, () -> new DistributedSampler(3, 3)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(Sampler.sequential(), 0, false));
        assertThrows(RushlightException.class, () -> new WeightedRandomSampler(new double[] {1, -1}, 1).order(2));
        assertThrows(RushlightException.class, () -> new WeightedRandomSampler(new double[] {1, 1}, 3, false, null).order(2));
        assertEquals(0, new RandomSampler().order(0).length);
        Generator closed = new Generator(1);
        closed.close();
        Sampler sampler = new RandomSampler(new RandomSampler.Options().withGenerator(closed));
        assertThrows(IllegalStateException.class, () -> sampler.order(3));
    }

    private static long[] numbers(Iterator<Example> batches) {
        LongStream.Builder seen = LongStream.builder();
        batches.forEachRemaining(batch -> Arrays.stream(batch.data().toLongArray()).forEach(seen));
        return seen.build().toArray();
    }

    @Test
    void aBatchSamplerDeterminesTheBatches() {
        DataLoader.Options options = new DataLoader.Options(size -> List.of(new long[] {7}, new long[] {1, 2, 2}));
        for (int workers : new int[] {0, 2}) {
            Leaks.none(() -> {
                try (TensorDataset squares = DataTest.squares(); DataLoader<Example, Example> loader = DataLoader.of(squares, options.withWorkers(workers))) {
                    Iterator<Example> batches = loader.iterator();
                    assertArrayEquals(new long[] {7}, batches.next().data().toLongArray());
                    assertArrayEquals(new long[] {1, 2, 2}, batches.next().data().toLongArray());
                    assertEquals(false, batches.hasNext());
                }
            });
        }
        assertThrows(IllegalStateException.class, () -> options.withShuffle(true));
        assertThrows(IllegalStateException.class, () -> options.withDropLast(true));
        assertThrows(IllegalStateException.class, () -> options.withSampler(Sampler.sequential()));
    }

    /** The position is saved with other tensors in a file, and restored in another loader. */
    @Test
    void anEpochContinuesAtASavedPosition(@TempDir Path folder) {
        for (int workers : new int[] {0, 2}) {
            Leaks.none(() -> {
                List<DataLoader.Progress> progress = new ArrayList<>();
                DataLoader.Options options = new DataLoader.Options(3).withShuffle(true).withWorkers(workers);
                Torch.manualSeed(8);
                long[] all;
                Path file = folder.resolve("checkpoint" + workers + ".pt");
                try (TensorDataset squares = DataTest.squares(); DataLoader<Example, Example> loader = DataLoader.of(squares, options)) {
                    all = numbers(loader.iterator());
                    Torch.manualSeed(8);
                    Iterator<Example> batches = loader.iterator();
                    batches.next();
                    batches.next();
                    StateDict.save(StateDict.join(Map.of("loader", loader.stateDict())), file);
                    assertArrayEquals(Arrays.copyOfRange(all, 6, 10), numbers(batches), "saving does not disturb the epoch");
                }
                Torch.manualSeed(1);
                try (TensorDataset squares = DataTest.squares();
                        DataLoader<Example, Example> loader = DataLoader.of(squares, options.withListener(progress::add))) {
                    loader.loadStateDict(StateDict.under(StateDict.load(file), "loader"));
                    // Not yet continued, the position stays.
                    assertArrayEquals(Arrays.copyOfRange(all, 6, 10), loader.stateDict().get("indices").toLongArray());
                    assertArrayEquals(Arrays.copyOfRange(all, 6, 10), numbers(loader.iterator()));
                    assertEquals(List.of(3L, 4L), progress.stream().map(DataLoader.Progress::batch).toList());
                    assertEquals(List.of(4L, 4L), progress.stream().map(DataLoader.Progress::batches).toList());
                    assertEquals(List.of(9L, 10L), progress.stream().map(DataLoader.Progress::examples).toList());
                    assertEquals(10, numbers(loader.iterator()).length, "the next epoch is whole");
                }
            });
        }
    }

    @Test
    void betweenEpochsNothingRemains() {
        Leaks.none(() -> {
            try (TensorDataset squares = DataTest.squares(); DataLoader<Example, Example> loader = DataLoader.of(squares, new DataLoader.Options(4))) {
                Map<String, Tensor> before = loader.stateDict();
                assertEquals(0, before.get("indices").numel());
                numbers(loader.iterator());
                Map<String, Tensor> after = loader.stateDict();
                assertEquals(0, after.get("batch_sizes").numel());
                assertEquals(0, after.get("batches").item().longValue());
                loader.loadStateDict(after);
                assertEquals(10, numbers(loader.iterator()).length);
            }
        });
    }

    /** Without the order of the sampler, the batch that is late remains. */
    @Test
    @Timeout(30)
    void aBatchThatIsLateRemains() throws InterruptedException {
        CountDownLatch said = new CountDownLatch(1);
        Dataset<Tensor> numbers = new Dataset<>() {
            @Override
            public Tensor get(long index) {
                if (index == 0) {
                    try {
                        said.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
                return Tensor.of(index);
            }

            @Override
            public long size() {
                return 4;
            }
        };
        Leaks.noneInTheEnd(() -> {
            try (DataLoader<Tensor, List<Tensor>> loader = DataLoader.of(numbers, list -> list,
                    new DataLoader.Options(1).withWorkers(2).withEnforceOrdering(false))) {
                Iterator<List<Tensor>> batches = loader.iterator();
                batches.next();
                batches.next();
                assertArrayEquals(new long[] {0, 3}, loader.stateDict().get("indices").toLongArray());
                said.countDown();
            }
        });
    }

    @Test
    void damagedPositionsAreRejected() {
        Leaks.none(() -> {
            try (TensorDataset squares = DataTest.squares(); DataLoader<Example, Example> loader = DataLoader.of(squares, new DataLoader.Options(4))) {
                Iterator<Example> batches = loader.iterator();
                batches.next();
                Map<String, Tensor> good = loader.stateDict();
                Map<String, Tensor> wrong = Map.of("indices", Tensor.of(1L, 10L), "batch_sizes", Tensor.of(1L), "batches", Tensor.scalar(-1),
                    "examples", Tensor.of(1f));
                for (Map.Entry<String, Tensor> entry : wrong.entrySet()) {
                    Map<String, Tensor> damaged = new HashMap<>(good);
                    damaged.put(entry.getKey(), entry.getValue());
                    assertThrows(IllegalArgumentException.class, () -> loader.loadStateDict(damaged), entry.getKey());
                    damaged.remove(entry.getKey());
                    assertThrows(IllegalArgumentException.class, () -> loader.loadStateDict(damaged), entry.getKey());
                }
                Map<String, Tensor> outside = new HashMap<>(good);
                outside.put("indices", Tensor.of(0L, 1L, 2L, 3L, 4L, 10L));
                assertEquals("the position of a DataLoader has the index 10, but the dataset has 10 examples",
                    assertThrows(IllegalArgumentException.class, () -> loader.loadStateDict(outside)).getMessage());
                assertArrayEquals(new long[] {4, 5, 6, 7}, batches.next().data().toLongArray(), "the epoch goes on");
            }
        });
    }
}
