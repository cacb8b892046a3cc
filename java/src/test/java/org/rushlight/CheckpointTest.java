package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** Models, optimizers and schedules in files: those of Python (tests/oracle/io_fixtures.py), and there and back. */
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
                    Map<String, Tensor> all = new LinkedHashMap<>();
                    StateDict.addUnder(one.stateDict(), "model", all);
                    StateDict.addUnder(first.stateDict(), "optimizer", all);
                    StateDict.addUnder(schedule.stateDict(), "schedule", all);
                    StateDict.save(all, file);

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
}
