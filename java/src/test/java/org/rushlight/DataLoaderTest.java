package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.data.DataLoader;
import org.rushlight.data.Dataset;
import org.rushlight.data.Example;
import org.rushlight.data.TensorDataset;
import org.rushlight.data.WorkerException;
import org.rushlight.nn.Functional;
import org.rushlight.nn.Linear;
import org.rushlight.optim.SGD;

/** Batches, workers and timeouts of a loader when something fails; and the lifetime of a batch. */
class DataLoaderTest {
    /** Ten numbers; some of them become available only when the test releases them. */
    private static Dataset<Tensor> numbers(Set<Long> late, CountDownLatch said) {
        return new Dataset<>() {
            @Override
            public Tensor get(long index) {
                if (late.contains(index)) {
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
                return 10;
            }
        };
    }

    private static Dataset<Tensor> numbers() {
        return numbers(Set.of(), new CountDownLatch(0));
    }

    private static DataLoader<Tensor, Tensor> loader(Dataset<Tensor> dataset, DataLoader.Options options) {
        return DataLoader.of(dataset, list -> Torch.stack(list.toArray(Tensor[]::new)), options);
    }

    @Test
    void aBatchMayBeLargerThanAnything() {
        for (int workers : new int[] {0, 1}) {
            Leaks.none(() -> {
                try (DataLoader<Tensor, Tensor> loader = loader(numbers(), new DataLoader.Options(Integer.MAX_VALUE).withWorkers(workers))) {
                    List<Long> sizes = new ArrayList<>();
                    loader.forEach(batch -> sizes.add(batch.size(0)));
                    assertEquals(List.of(10L), sizes);
                }
                try (DataLoader<Tensor, Tensor> loader =
                        loader(numbers(), new DataLoader.Options(Integer.MAX_VALUE).withWorkers(workers).withDropLast(true))) {
                    assertFalse(loader.iterator().hasNext());
                }
            });
        }
    }

    @Test
    void optionsAreChecked() {
        DataLoader.Options options = new DataLoader.Options(1);
        assertEquals("a batch has at least one example, not 0",
            assertThrows(IllegalArgumentException.class, () -> new DataLoader.Options(0)).getMessage());
        assertEquals("a loader has 0 workers or more, not -1",
            assertThrows(IllegalArgumentException.class, () -> options.withWorkers(-1)).getMessage());
        assertEquals("a loader prepares 0 batches ahead or more, not -1",
            assertThrows(IllegalArgumentException.class, () -> options.withMaxJobs(-1)).getMessage());
        assertEquals("a loader waits for some time, not for PT0S",
            assertThrows(IllegalArgumentException.class, () -> options.withTimeout(Duration.ZERO)).getMessage());
    }

    @Test
    void whatAWorkerThrowsComesToTheCaller() throws InterruptedException {
        for (int workers : new int[] {0, 2}) {
            Leaks.noneInTheEnd(() -> {
                IllegalStateException broken = new IllegalStateException("example 5 is broken");
                Dataset<Example> dataset = DataTest.squares().map(example -> {
                    if (example.data().item().longValue() == 5) {
                        throw broken;
                    }
                    return example;
                });
                try (dataset; DataLoader<Example, Example> loader = DataLoader.of(dataset, new DataLoader.Options(2).withWorkers(workers))) {
                    Iterator<Example> batches = loader.iterator();
                    batches.next();
                    batches.next();
                    RuntimeException thrown = assertThrows(RuntimeException.class, batches::next);
                    assertSame(broken, workers == 0 ? thrown : assertThrows(WorkerException.class, () -> {
                        throw thrown;
                    }).getCause());
                    assertEquals(workers == 0 ? "example 5 is broken"
                        : "Caught java.lang.IllegalStateException in a DataLoader worker thread. Original message: example 5 is broken",
                        thrown.getMessage());
                    // The next epoch starts anew.
                    assertArrayEquals(new long[] {0, 1}, loader.iterator().next().target().toLongArray());
                }
            });
        }
    }

    @Test
    void anEpochMayBeLeftInTheMiddle() throws InterruptedException {
        Leaks.noneInTheEnd(() -> {
            try (TensorDataset squares = DataTest.squares();
                    DataLoader<Example, Example> loader = DataLoader.of(squares, new DataLoader.Options(1).withWorkers(3))) {
                for (int i = 0; i < 20; i++) {
                    loader.iterator().next();
                }
            }
        });
    }

    @Test
    @Timeout(30)
    void closingWaitsForNoDataset() throws InterruptedException {
        CountDownLatch said = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            DataLoader<Tensor, Tensor> loader = loader(numbers(Set.of(3L), said), new DataLoader.Options(1).withWorkers(2));
            Iterator<Tensor> batches = loader.iterator();
            Tensor first = batches.next();
            loader.close();
            assertTrue(first.isClosed());
            assertEquals("the loader is closed", assertThrows(IllegalStateException.class, batches::hasNext).getMessage());
            assertEquals("the loader is closed", assertThrows(IllegalStateException.class, batches::next).getMessage());
            assertThrows(IllegalStateException.class, loader::iterator);
            // The worker receives its result only now, and frees it.
            said.countDown();
        });
    }

    @Test
    @Timeout(30)
    void whoWaitsForABatchIsInterruptedOrToldOfTheEnd() throws InterruptedException {
        CountDownLatch said = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            DataLoader<Tensor, Tensor> loader = loader(numbers(Set.of(0L), said), new DataLoader.Options(1).withWorkers(1));
            for (boolean interrupts : new boolean[] {true, false}) {
                Iterator<Tensor> batches = loader.iterator();
                AtomicReference<Throwable> thrown = new AtomicReference<>();
                Thread waiting = new Thread(() -> thrown.set(assertThrows(RuntimeException.class, batches::next)));
                waiting.start();
                while (waiting.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                if (interrupts) {
                    waiting.interrupt();
                } else {
                    loader.close();
                }
                join(waiting);
                assertEquals(interrupts ? CancellationException.class : IllegalStateException.class, thrown.get().getClass());
            }
            said.countDown();
        });
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Timeout(30)
    void aBatchThatTakesTooLongMayBeAskedForAgain() throws InterruptedException {
        CountDownLatch said = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            try (DataLoader<Tensor, Tensor> loader = loader(numbers(Set.of(1L), said),
                    new DataLoader.Options(1).withWorkers(1).withTimeout(Duration.ofMillis(40)))) {
                Iterator<Tensor> batches = loader.iterator();
                while (true) {
                    try {
                        assertEquals(0, batches.next().item().longValue());
                        break;
                    } catch (RushlightException e) {
                        continue; // The machine is busy.
                    }
                }
                assertEquals("Timeout in DataLoader queue while waiting for next batch (timeout was 40 ms)",
                    assertThrows(RushlightException.class, batches::next).getMessage());
                said.countDown();
                while (true) {
                    try {
                        assertEquals(1, batches.next().item().longValue());
                        break;
                    } catch (RushlightException e) {
                        continue;
                    }
                }
            }
        });
    }

    @Test
    void aTimeoutMayBeLongerThanNumbersCount() {
        Leaks.none(() -> {
            try (DataLoader<Tensor, Tensor> loader =
                    loader(numbers(), new DataLoader.Options(10).withWorkers(1).withTimeout(Duration.ofSeconds(Long.MAX_VALUE)))) {
                assertEquals(10, loader.iterator().next().size(0));
            }
        });
    }

    @Test
    @Timeout(30)
    void batchesMayComeAsTheyAreReady() throws InterruptedException {
        CountDownLatch said = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            List<Long> examples = new ArrayList<>();
            try (DataLoader<Tensor, Tensor> loader = loader(numbers(Set.of(0L), said), new DataLoader.Options(4).withWorkers(2)
                    .withEnforceOrdering(false).withListener(progress -> examples.add(progress.examples())))) {
                List<Long> firsts = new ArrayList<>();
                for (Tensor batch : loader) {
                    firsts.add(batch.toLongArray()[0]);
                    if (firsts.size() == 2) {
                        said.countDown();
                    }
                }
                assertEquals(List.of(4L, 8L, 0L), firsts);
                assertEquals(List.of(4L, 6L, 10L), examples);
            }
        });
    }

    @Test
    @Timeout(60)
    void workersOfALoaderThatNobodyClosesEnd() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        DataLoader<Tensor, Tensor> loader = loader(numbers(), new DataLoader.Options(5).withWorkers(2));
        loader.forEach(Tensor::close);
        List<Thread> workers = Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> !before.contains(thread) && thread.getName().startsWith("rushlight-loader-")).toList();
        assertEquals(2, workers.size());
        for (Thread worker : workers) {
            worker.join();
        }
        // Other threads replace them.
        loader.forEach(Tensor::close);
        loader.close();
    }

    @Test
    void anIteratorOfAnEarlierEpochSaysSo() throws InterruptedException {
        Leaks.noneInTheEnd(() -> {
            try (DataLoader<Tensor, Tensor> loader = loader(numbers(), new DataLoader.Options(4).withWorkers(1))) {
                Iterator<Tensor> first = loader.iterator();
                Tensor batch = first.next();
                Iterator<Tensor> second = loader.iterator();
                assertTrue(batch.isClosed());
                assertEquals("another epoch of the loader has begun", assertThrows(IllegalStateException.class, first::next).getMessage());
                assertEquals(0, second.next().toLongArray()[0]);
            }
        });
    }

    // Types of batches.

    /** An ordinary class, as Kotlin's data classes are. */
    private static class Plain {
        private final Tensor tensor;
        private final long number;
        private Object more;

        Plain(Tensor tensor, long number) {
            this.tensor = tensor;
            this.number = number;
        }
    }

    private static final class Derived extends Plain {
        /** A circular reference, and objects without tensors. */
        private final Plain self = this;
        private final Path path = Path.of("a", "b");
        private final Class<?> type = Derived.class;

        Derived(Tensor tensor) {
            super(tensor, 1);
        }
    }

    private static final class Pair implements AutoCloseable {
        final Optional<Tensor> optional;
        final Map<Tensor, Map.Entry<String, Tensor[]>> map = new LinkedHashMap<>();

        Pair(Tensor one, Tensor two, Tensor three) {
            optional = Optional.of(one);
            map.put(two, Map.entry("three", new Tensor[] {three}));
        }

        @Override
        public void close() {}
    }

    @Test
    void aBatchMayBeAnyObject() {
        for (int workers : new int[] {0, 1}) {
            Leaks.none(() -> {
                DataLoader.Options options = new DataLoader.Options(10).withWorkers(workers);
                try (DataLoader<Tensor, Derived> loader = DataLoader.of(numbers(), list -> new Derived(Torch.stack(list.toArray(Tensor[]::new))), options)) {
                    Derived batch = loader.iterator().next();
                    assertEquals(45, ((Plain) batch).tensor.sum().item().longValue());
                    assertEquals(1, ((Plain) batch).number);
                    assertSame(batch, batch.self);
                    assertEquals(Path.of("a", "b"), batch.path);
                    assertSame(Derived.class, batch.type);
                }
                try (DataLoader<Tensor, Pair> loader = DataLoader.of(numbers(), list -> new Pair(list.get(1), list.get(2), list.get(3)), options)) {
                    Pair batch = loader.iterator().next();
                    assertEquals(1, batch.optional.orElseThrow().item().longValue());
                    batch.map.forEach((key, entry) -> {
                        assertEquals(2, key.item().longValue());
                        assertEquals(3, entry.getValue()[0].item().longValue());
                    });
                }
            });
        }
    }

    /** A class of another module, which is not open. */
    @Test
    @SuppressWarnings("unchecked")
    void aBatchThatCannotBeReadIsRefused(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("module-info.java"), "module secretive { exports secretive; }");
        Path source = Files.createDirectory(folder.resolve("secretive")).resolve("Box.java");
        Files.writeString(source, "package secretive;\npublic final class Box implements java.util.function.Function<Object, Object> {\n"
            + "    private Object held;\n    public Object apply(Object it) {\n        Box box = new Box();\n        box.held = it;\n        return box;\n    }\n}\n");
        PrintWriter out = new PrintWriter(System.err, true);
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow().run(out, out, "-proc:none", "-d", folder.resolve("built").toString(),
            folder.resolve("module-info.java").toString(), source.toString()));
        Configuration configuration =
            ModuleLayer.boot().configuration().resolve(ModuleFinder.of(folder.resolve("built")), ModuleFinder.of(), Set.of("secretive"));
        ClassLoader of = ModuleLayer.boot().defineModulesWithOneLoader(configuration, getClass().getClassLoader()).findLoader("secretive");
        Function<Object, Object> box = (Function<Object, Object>) of.loadClass("secretive.Box").getConstructor().newInstance();
        Leaks.none(() -> {
            try (DataLoader<Tensor, Object> loader =
                    DataLoader.of(numbers(), list -> List.of(list.get(0), box.apply(list.get(1))), new DataLoader.Options(10))) {
                assertEquals("a batch holds a secretive.Box, whose field 'held' may hold tensors to hand over: its module must open the package "
                    + "secretive to org.rushlight", assertThrows(IllegalStateException.class, () -> loader.iterator().next()).getMessage());
            }
        });
    }

    // Lifetime of a batch.

    @Test
    void aBatchLivesUntilTheNextIsTaken() {
        for (int workers : new int[] {0, 2}) {
            Leaks.none(() -> {
                Tensor shared = null;
                try (DataLoader<Tensor, Tensor> loader = loader(numbers(), new DataLoader.Options(4).withWorkers(workers))) {
                    Iterator<Tensor> batches = loader.iterator();
                    Tensor first = batches.next();
                    shared = first.share();
                    assertTrue(batches.hasNext());
                    assertEquals(6, first.sum().item().longValue());
                    Tensor second = batches.next();
                    assertEquals("Tensor 'of an earlier batch of a DataLoader' is closed",
                        assertThrows(IllegalStateException.class, first::sum).getMessage());
                    second.close();
                    Tensor third = batches.next();
                    assertFalse(batches.hasNext());
                    assertEquals(17, third.sum().item().longValue());
                }
                assertArrayEquals(new long[] {0, 1, 2, 3}, shared.toLongArray());
            });
        }
    }

    /** The loop of the guides: it leaves no tensor to the garbage collector. */
    @Test
    void theLoopOfTheGuidesLeavesNothing() throws IOException {
        for (int workers : new int[] {0, 2}) {
            long before = Leaks.live();
            int open = LeakDetector.open().size();
            LeakDetector.start(origin -> {});
            try (Tensor data = Torch.randn(12, 2); Tensor targets = Torch.zeros(12, 1); Dataset<Example> points = new TensorDataset(data, targets);
                    Linear net = new Linear(2, 1); SGD optimizer = new SGD(net.parameters(), 0.01);
                    DataLoader<Example, Example> loader =
                        DataLoader.of(points, new DataLoader.Options(4).withShuffle(true).withWorkers(workers))) {
                int around = LeakDetector.open().size();
                for (int epoch = 0; epoch < 3; epoch++) {
                    for (Example batch : loader) {
                        try (Scope step = new Scope()) {
                            assert step != null;
                            optimizer.zeroGrad();
                            Functional.mseLoss(net.forward(batch.data()), batch.target()).backward();
                            optimizer.step();
                        }
                        // This batch, and those that workers have prepared: an epoch has three.
                        long batches = workers == 0 ? 1 : 3;
                        assertTrue(LeakDetector.open().stream().filter(DataLoaderTest::isOfABatch).count() <= 2 * batches);
                    }
                }
                // Only the last batch is still open.
                assertEquals(around + 2, LeakDetector.open().size());
            } finally {
                LeakDetector.stop();
            }
            assertEquals(open, LeakDetector.open().size());
            assertEquals(before, Leaks.live());
        }
    }

    private static boolean isOfABatch(Throwable origin) {
        return List.of(origin.getStackTrace()).stream().anyMatch(frame -> frame.getMethodName().equals("stack")
            && frame.getClassName().equals(Example.class.getName()));
    }
}
