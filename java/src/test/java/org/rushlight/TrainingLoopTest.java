package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rushlight.data.DataLoader;
import org.rushlight.data.Example;
import org.rushlight.data.TensorDataset;
import org.rushlight.nn.Dropout;
import org.rushlight.nn.Functional;
import org.rushlight.nn.Linear;
import org.rushlight.nn.Sequential;
import org.rushlight.optim.SGD;
import org.rushlight.optim.StepLR;
import org.rushlight.training.Accuracy;
import org.rushlight.training.Evaluation;
import org.rushlight.training.MeanMetric;
import org.rushlight.training.MeanSquaredError;
import org.rushlight.training.Metric;
import org.rushlight.training.ProgressBar;
import org.rushlight.training.Training;
import org.rushlight.training.TrainingListener;

/** The training loop does what a loop by hand does; listeners and metrics see it. */
class TrainingLoopTest {
    private static TensorDataset line() {
        try (Tensor x = Torch.arange(0, 7).to(DType.FLOAT32).div(7).view(7, 1); Tensor y = x.mul(3).add(1)) {
            return new TensorDataset(x, y);
        }
    }

    private static double[] numbers(List<Tensor> parameters) {
        return parameters.stream().mapToDouble(parameter -> parameter.detach().item().doubleValue()).toArray();
    }

    /** Parameters and losses equal those of a loop by hand, bit for bit. */
    @Test
    void aLoopByHandHasTheSameNumbers() {
        Leaks.none(() -> {
            double[] expected;
            List<Double> losses = new ArrayList<>();
            Torch.manualSeed(3);
            try (TensorDataset line = line(); Linear layer = new Linear(1, 1);
                    DataLoader<Example, Example> loader = DataLoader.of(line, new DataLoader.Options(3).withShuffle(true));
                    SGD optimizer = new SGD(layer.parameters(), new SGD.Options(0.1).withMomentum(0.9))) {
                StepLR schedule = new StepLR(optimizer, 2, 0.5);
                for (int epoch = 0; epoch < 4; epoch++) {
                    double total = 0;
                    for (Example batch : loader) {
                        optimizer.zeroGrad();
                        Tensor loss = Functional.mseLoss(layer.forward(batch.data()), batch.target());
                        loss.backward();
                        org.rushlight.nn.Utils.clipGradNorm(layer.parameters(), 0.5);
                        optimizer.step();
                        total += loss.item().doubleValue() * batch.data().size(0);
                    }
                    losses.add(total / 7);
                    schedule.step();
                }
                expected = numbers(layer.parameters());
            }
            Torch.manualSeed(3);
            try (TensorDataset line = line(); Linear layer = new Linear(1, 1);
                    DataLoader<Example, Example> loader = DataLoader.of(line, new DataLoader.Options(3).withShuffle(true));
                    SGD optimizer = new SGD(layer.parameters(), new SGD.Options(0.1).withMomentum(0.9))) {
                Training training = new Training(layer, Functional::mseLoss, optimizer,
                    new Training.Options().withScheduler(new StepLR(optimizer, 2, 0.5)).withMaxGradNorm(0.5));
                List<Evaluation> results = training.fit(loader, 4);
                assertArrayEquals(expected, numbers(layer.parameters()));
                assertEquals(losses, results.stream().map(Evaluation::loss).toList());
                assertEquals(List.of(3L, 7L), List.of(results.get(0).batches(), results.get(0).examples()));
                assertTrue(results.get(0).examplesPerSecond() > 0);
            }
        });
    }

    @Test
    void listenersAreCalledInOrder() {
        Leaks.none(() -> {
            List<String> calls = new ArrayList<>();
            TrainingListener listener = new TrainingListener() {
                @Override
                public void onEpochBegin(Training training, int epoch, int epochs) {
                    calls.add("begin " + epoch + "/" + epochs);
                }

                @Override
                public void onBatchEnd(Training training, long batch, double loss, Evaluation soFar) {
                    assertEquals(batch, soFar.batches());
                    assertTrue(Double.isFinite(loss));
                    calls.add("batch " + batch + " of " + soFar.examples() + " " + soFar.metrics().keySet());
                    if (calls.size() == 7) {
                        training.stop();
                    }
                }

                @Override
                public void onEpochEnd(Training training, int epoch, Evaluation trained, @Nullable Evaluation validated) {
                    calls.add("end " + epoch + " " + trained.examples() + " " + (validated == null ? null : validated.examples()));
                }
            };
            try (TensorDataset line = line(); Linear layer = new Linear(1, 1);
                    DataLoader<Example, Example> loader = DataLoader.of(line, new DataLoader.Options(4));
                    DataLoader<Example, Example> validation = DataLoader.of(line, new DataLoader.Options(7));
                    SGD optimizer = new SGD(layer.parameters(), 0.01)) {
                Training training = new Training(layer, Functional::mseLoss, optimizer,
                    new Training.Options().withListeners(listener).withMetrics(new MeanSquaredError()));
                assertEquals(2, training.fit(loader, validation, 5).size());
                assertEquals(List.of("begin 1/5", "batch 1 of 4 [mse]", "batch 2 of 7 [mse]", "end 1 7 7", "begin 2/5", "batch 1 of 4 [mse]",
                    "batch 2 of 7 [mse]", "end 2 7 7"), calls);
                assertEquals(1, training.fit(loader, 1).size(), "a training can go on");
            }
        });
    }

    @Test
    void evaluationRestoresTheMode() {
        Leaks.none(() -> {
            try (TensorDataset line = line(); Sequential model = new Sequential(new Linear(1, 1), new Dropout(0.5));
                    DataLoader<Example, Example> loader = DataLoader.of(line, new DataLoader.Options(2));
                    SGD optimizer = new SGD(model.parameters(), 0.01)) {
                Training training = new Training(model, Functional::mseLoss, optimizer,
                    new Training.Options().withMetrics(new MeanSquaredError(), new MeanMetric("mae", (preds, target) -> {
                        assertFalse(model.isTraining());
                        assertNull(preds.gradNode());
                        return preds.sub(target).abs().mean().item().doubleValue();
                    })));
                for (boolean mode : new boolean[] {true, false}) {
                    model.train(mode);
                    Evaluation first = training.evaluate(loader);
                    assertEquals(mode, model.isTraining());
                    assertEquals(first.loss(), training.evaluate(loader).loss(), "without dropout");
                    assertEquals(first.loss(), first.metrics().get("mse"), 1e-6);
                    assertEquals(List.of("mse", "mae"), List.copyOf(first.metrics().keySet()));
                }
                assertTrue(Double.isNaN(training.evaluate(List.of()).loss()));
            }
        });
    }

    @Test
    void anInterruptEndsTheTraining() {
        Leaks.none(() -> {
            try (TensorDataset line = line(); Linear layer = new Linear(1, 1);
                    DataLoader<Example, Example> loader = DataLoader.of(line, new DataLoader.Options(1));
                    SGD optimizer = new SGD(layer.parameters(), 0.01)) {
                long[] seen = {0};
                Training training = new Training(layer, Functional::mseLoss, optimizer, new Training.Options().withListeners(new TrainingListener() {
                    @Override
                    public void onBatchEnd(Training of, long batch, double loss, Evaluation soFar) {
                        seen[0] = batch;
                        if (batch == 3) {
                            Thread.currentThread().interrupt();
                        }
                    }
                }));
                assertThrows(CancellationException.class, () -> training.fit(loader, 1));
                assertEquals(3, seen[0]);
                assertThrows(CancellationException.class, () -> training.evaluate(loader));
                assertTrue(Thread.interrupted(), "the flag stays set");
            }
        });
    }

    @Test
    void accuracyCountsClassesProbabilitiesAndLogits() {
        Leaks.none(() -> {
            Accuracy accuracy = new Accuracy();
            assertTrue(Double.isNaN(accuracy.compute()));
            accuracy.update(Tensor.of(new float[][] {{2, 1}, {0, 3}}), Tensor.of(0L, 0L));
            assertEquals(0.5, accuracy.compute());
            accuracy.update(Tensor.of(1L, 0L), Tensor.of(1L, 0L));
            assertEquals(0.75, accuracy.compute());
            accuracy.reset();
            accuracy.update(Tensor.of(0.2f, 0.5f, 0.7f, 0.4f), Tensor.of(0L, 0L, 1L, 1L));
            assertEquals(0.75, accuracy.compute());
            accuracy.reset();
            accuracy.update(Tensor.of(0.2f, -0.5f, 3f), Tensor.of(1L, 0L, 0L)); // Logits: 0.2 is above a probability of 0.5.
            assertEquals(2.0 / 3, accuracy.compute());
            accuracy.reset();
            // Pixels: scores of shape [1, 2, 1, 2] for targets of shape [1, 1, 2].
            accuracy.update(Tensor.of(new float[] {1, 2, 3, 1}, 1, 2, 1, 2), Tensor.of(new long[] {1, 1}, new long[] {1, 1, 2}));
            assertEquals(0.5, accuracy.compute());
            assertEquals("predictions of shape [3] do not fit targets of shape [2]",
                assertThrows(IllegalArgumentException.class, () -> accuracy.update(Tensor.of(1L, 2L, 3L), Tensor.of(1L, 2L))).getMessage());
        });
    }

    @Test
    void metricsHaveDifferentNames() {
        Metric one = new Accuracy();
        assertEquals("two metrics have the same name: [accuracy, accuracy]",
            assertThrows(IllegalArgumentException.class, () -> new Training.Options().withMetrics(one, new Accuracy())).getMessage());
        assertThrows(IllegalArgumentException.class, () -> new Training.Options().withMaxGradNorm(0));
    }

    @Test
    void theProgressBarShowsBatchesAndMetrics() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ProgressBar bar = new ProgressBar(new PrintStream(bytes, false, StandardCharsets.UTF_8));
        Evaluation half = new Evaluation(0.25, Map.of("accuracy", 0.5), 1, 10, Duration.ofSeconds(2));
        Evaluation whole = new Evaluation(0.125, Map.of(), 2, 20, Duration.ofSeconds(4));
        try (Linear layer = new Linear(1, 1); SGD optimizer = new SGD(layer.parameters(), 0.1)) {
            Training training = new Training(layer, Functional::mseLoss, optimizer);
            bar.onEpochBegin(training, 1, 2);
            bar.onBatchEnd(training, 1, 0.25, half);
            bar.onEpochEnd(training, 1, whole, whole);
            bar.onEpochBegin(training, 2, 2);
            bar.onBatchEnd(training, 1, 0.25, half);
            bar.onEpochEnd(training, 2, whole, null);
        }
        assertEquals("\repoch 1/2: 1 batches, loss 0.2500, accuracy 0.5000, 5 examples/s, validation loss 0.1250, 5 examples/s\n"
            + "\repoch 2/2: [##########..........] 1/2 batches, loss 0.2500, accuracy 0.5000, 5 examples/s\n",
            bytes.toString(StandardCharsets.UTF_8).replace(System.lineSeparator(), "\n"));
    }
}
