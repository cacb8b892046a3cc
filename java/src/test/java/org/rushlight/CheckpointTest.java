package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.nn.BatchNorm2d;
import org.rushlight.nn.Conv2d;
import org.rushlight.nn.Flatten;
import org.rushlight.nn.Functional;
import org.rushlight.nn.Linear;
import org.rushlight.nn.Module;
import org.rushlight.nn.ReLU;
import org.rushlight.nn.Sequential;
import org.rushlight.optim.AdamW;
import org.rushlight.optim.StepLR;

/** Models, optimizers and schedules in files: those that Python wrote (tests/oracle/io_fixtures.py), and round trips.
 * */
class CheckpointTest {
    private static final Path FILES = Path.of("..", "tests", "data", "io");

    private static Sequential dense() {
        return new Sequential(new Linear(3, 2), new ReLU(), new Linear(2, 1));
    }

    private static Sequential convolutional() {
        return new Sequential(new Conv2d(1, 2, 3), new BatchNorm2d(2), new ReLU(), new Flatten(), new Linear(8, 3));
    }

    @Test
    void aModelOfPythonIsLoaded() {
        Leaks.none(() -> {
            try (Sequential model = dense()) {
                model.load(FILES.resolve("model.pt"));
                List<Tensor> parameters = model.parameters();
                assertArrayEquals(new float[] {0, 1, 2, 3, 4, 5}, parameters.get(0).detach().toFloatArray());
                assertArrayEquals(new float[] {30}, parameters.get(3).detach().toFloatArray());
                assertTrue(parameters.stream().allMatch(Tensor::requiresGrad));
                // [0, 3] + [10, 11] + 1 * [1, 4] ... through the ReLU: 20 * a + 21 * b + 30.
                float a = 0 + 1 + 2 + 10;
                float b = 3 + 4 + 5 + 11;
                assertEquals(20 * a + 21 * b + 30, model.forward(Torch.ones(1, 3)).item().doubleValue());
            }
        });
    }

    private static double step(Module model, AdamW optimizer, Tensor images, Tensor classes) {
        optimizer.zeroGrad();
        Tensor loss = Functional.crossEntropy(model.forward(images), classes);
        loss.backward();
        optimizer.step();
        return loss.item().doubleValue();
    }

    @Test
    void trainingGoesOnFromAFile(@TempDir Path folder) {
        for (String name : List.of("all.pt", "all.safetensors")) {
            Leaks.none(() -> {
                Path file = folder.resolve(name);
                Tensor images = Torch.randn(4, 1, 4, 4);
                Tensor classes = Tensor.of(0L, 1L, 2L, 0L);
                try (Sequential one = convolutional(); Sequential two = convolutional();
                        AdamW first = new AdamW(one.parameters(), 0.1); AdamW second = new AdamW(two.parameters(), 0.3)) {
                    StepLR schedule = new StepLR(first, 2, 0.5);
                    for (int i = 0; i < 3; i++) {
                        step(one, first, images, classes);
                        schedule.step();
                    }
                    StateDict.save(StateDict.join(
                        Map.of("model", one.stateDict(), "optimizer", first.stateDict(), "schedule", schedule.stateDict())), file);

                    Map<String, Tensor> loaded = StateDict.load(file);
                    StepLR resumed = new StepLR(second, 2, 0.5);
                    two.loadStateDict(StateDict.under(loaded, "model"));
                    second.loadStateDict(StateDict.under(loaded, "optimizer"));
                    resumed.loadStateDict(StateDict.under(loaded, "schedule"));
                    assertEquals(3, resumed.lastEpoch());
                    for (int i = 0; i < 3; i++) {
                        assertEquals(step(one, first, images, classes), step(two, second, images, classes));
                        schedule.step();
                        resumed.step();
                        assertArrayEquals(schedule.lastLr(), resumed.lastLr());
                    }
                    assertEquals(6, two.namedBuffers().get("1.num_batches_tracked").item().longValue());
                }
            });
        }
    }

    @Test
    void namesThatDoNotFitMayBeLeftAlone() {
        Leaks.none(() -> {
            try (Sequential model = dense()) {
                Map<String, Tensor> source = new LinkedHashMap<>(Map.of("0.weight", Torch.ones(2, 3), "other", Torch.ones(1)));
                assertThrows(RushlightException.class, () -> model.loadStateDict(source));
                StateDict.Incompatible left = model.loadStateDict(source, false);
                assertEquals(List.of("0.bias", "2.weight", "2.bias"), left.missing());
                assertEquals(List.of("other"), left.unexpected());
                assertArrayEquals(new float[] {1, 1, 1, 1, 1, 1}, model.parameters().get(0).detach().toFloatArray());
            }
        });
    }

    @Test
    void whatCannotBeSavedOrLoadedIsNamed(@TempDir Path folder) {
        Leaks.none(() -> {
            String text = assertThrows(RushlightIOException.class, () -> StateDict.load(folder)).getMessage();
            assertTrue(text.startsWith(folder + ": Is a directory"), text);
            Map<String, Tensor> lacking = new LinkedHashMap<>();
            lacking.put("weight", null);
            String missing = "the tensor 'weight' of the state dict is null";
            assertEquals(missing, assertThrows(NullPointerException.class, () -> StateDict.save(lacking, folder.resolve("a.pt"))).getMessage());
            try (Linear linear = new Linear(2, 2)) {
                assertEquals(missing, assertThrows(NullPointerException.class, () -> linear.loadStateDict(lacking)).getMessage());
            }
        });
    }

    @Test
    void modulesChangeTheirDtype() {
        Leaks.none(() -> {
            try (Sequential model = convolutional()) {
                Tensor weight = model.parameters().get(0);
                float[] before = weight.detach().toFloatArray();
                model.forward(Torch.ones(2, 1, 4, 4)).sum().backward();
                model.to(DType.FLOAT64);
                assertSame(weight, model.parameters().get(0));
                assertEquals(DType.FLOAT64, weight.dtype());
                assertEquals(DType.FLOAT64, weight.grad().dtype());
                assertEquals(DType.INT64, model.namedBuffers().get("1.num_batches_tracked").dtype());
                assertEquals(before[0], weight.detach().toDoubleArray()[0]);
                model.zeroGrad();
                Tensor out = model.forward(Torch.ones(new long[] {2, 1, 4, 4}, TensorOptions.of(DType.FLOAT64)));
                out.sum().backward();
                assertEquals(DType.FLOAT64, weight.grad().dtype());
                assertThrows(TensorTypeException.class, () -> model.to(DType.INT64));
            }
        });
    }

    /** A path of another file system is not a path on disk, whatever its string. */
    @Test
    void filesInAnArchiveAreReadAndWrittenThere(@TempDir Path folder) throws IOException {
        try (Scope scope = new Scope()) {
            assert scope != null;
            Map<String, Tensor> state = Map.of("w", Tensor.of(new float[][] {{1, 2}, {3, 4}}));
            URI archive = URI.create("jar:" + folder.resolve("models.jar").toUri());
            try (FileSystem jar = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
                for (String name : List.of("/w-of-rushlight.pt", "/w-of-rushlight.safetensors")) {
                    StateDict.save(state, jar.getPath(name));
                    assertTrue(Files.exists(jar.getPath(name)) && !Files.exists(Path.of(name)), name);
                    assertTrue(StateDict.load(jar.getPath(name)).get("w").equal(state.get("w")), name);
                    String start = new String(Files.readAllBytes(jar.getPath(name)), 0, 2, StandardCharsets.ISO_8859_1);
                    assertEquals(name.endsWith("pt"), start.equals("PK"), name);
                }
                RushlightIOException absent =
                    assertThrows(RushlightIOException.class, () -> StateDict.load(jar.getPath("/absent.pt")));
                assertTrue(absent.getMessage().contains("models.jar!/absent.pt"), absent.getMessage());
                Tensor closed = Tensor.of(1f);
                closed.close();
                assertThrows(IllegalStateException.class, () -> StateDict.save(Map.of("w", closed), jar.getPath("/w-of-rushlight.pt")));
                assertTrue(StateDict.load(jar.getPath("/w-of-rushlight.pt")).get("w").equal(state.get("w")), "left as it was");
            }
        }
    }

    @Test
    void streamsAndMemoryHoldWhatFilesHold() {
        Leaks.none(() -> {
            // More than the number of bytes that are copied at once.
            Map<String, Tensor> state = new LinkedHashMap<>();
            state.put("large", Torch.arange(400_000));
            state.put("text é", Tensor.of(true, false));
            for (StateDict.Format format : StateDict.Format.values()) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                StateDict.save(state, out, format);
                byte[] bytes = out.toByteArray();
                ByteBuffer within = ByteBuffer.allocateDirect(bytes.length + 7).position(3).put(bytes).flip().position(3);
                for (Map<String, Tensor> read : List.of(StateDict.load(bytes), StateDict.load(within),
                        StateDict.load(new ByteArrayInputStream(bytes)))) {
                    assertEquals(state.keySet(), read.keySet());
                    state.forEach((name, tensor) -> assertTrue(read.get(name).equal(tensor), name));
                }
                assertEquals(3, within.position());
            }
            try (InputStream python = Files.newInputStream(FILES.resolve("model.pt"))) {
                assertEquals(StateDict.load(FILES.resolve("model.pt")).keySet(), StateDict.load(python).keySet());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            assertThrows(RushlightIOException.class, () -> StateDict.load(new byte[0]));
            assertThrows(RushlightIOException.class, () -> StateDict.load("no model".getBytes(StandardCharsets.UTF_8)));
            assertThrows(RushlightIOException.class, () -> StateDict.save(state, new OutputStream() {
                @Override
                public void write(int value) throws IOException {
                    throw new IOException("full");
                }
            }, StateDict.Format.PT));
        });
    }

    @Test
    void twoTensorsOfOneNameAreRejected() {
        Leaks.none(() -> {
            Map<String, Map<String, Tensor>> parts = Map.of("a", Map.of("b.c", Torch.ones(1)), "a.b", Map.of("c", Torch.ones(1)));
            assertEquals("two tensors have the name 'a.b.c'", assertThrows(IllegalArgumentException.class, () -> StateDict.join(parts)).getMessage());
            try (Sequential model = dense()) {
                Map<String, Tensor> state = model.stateDict();
                assertThrows(UnsupportedOperationException.class, () -> state.put("x", Torch.ones(1)));
            }
        });
    }
}
