package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.nn.Linear;
import org.rushlight.nn.ReLU;
import org.rushlight.nn.Sequential;
import org.rushlight.optim.Adagrad;
import org.rushlight.optim.Adam;
import org.rushlight.optim.AdamW;
import org.rushlight.optim.LBFGS;
import org.rushlight.optim.Optimizer;
import org.rushlight.optim.ParameterGroup;
import org.rushlight.optim.RMSprop;
import org.rushlight.optim.SGD;

/** Checkpoints with values besides tensors: those that Python wrote (tests/oracle/io_fixtures.py), and round trips. */
class NestedCheckpointTest {
    private static final Path FILES = Path.of("..", "tests", "data", "io");

    private static Sequential dense() {
        return new Sequential(new Linear(3, 2), new ReLU(), new Linear(2, 1));
    }

    private static Map<String, IValue> python() {
        return Checkpoint.load(FILES.resolve("checkpoint.pt")).toStringDict();
    }

    @Test
    void valuesOfPythonKeepTypesAndNesting() {
        Leaks.none(() -> {
            Map<String, IValue> all = python();
            assertEquals(3, all.get("epoch").toLong());
            assertEquals("résumé", all.get("note").toStr());
            assertTrue(all.get("best").isNone());
            assertEquals(DType.FLOAT32, all.get("dtype").toDType());
            assertEquals(IValue.Kind.DTYPE, all.get("dtype").kind());
            assertEquals("(2, 3)", all.get("shape").toString());
            assertEquals(1L << 40, all.get("big").toLong());
            assertArrayEquals(new float[] {10, 11}, StateDict.of(all.get("model")).get("0.bias").toFloatArray());
            Map<String, IValue> optimizer = all.get("optimizer").toStringDict();
            Map<String, IValue> first = optimizer.get("state").toDict().get(0L).toStringDict();
            assertEquals(1, first.get("step").toTensor().item().doubleValue());
            Map<String, IValue> group = optimizer.get("param_groups").toList().get(0).toStringDict();
            assertEquals(0.25, group.get("lr").toDouble());
            assertEquals("(0.9, 0.999)", group.get("betas").toString());
            assertEquals("[0, 1, 2, 3]", group.get("params").toString());
            assertThrows(TensorTypeException.class, () -> StateDict.of(all.get("optimizer")));
        });
    }

    /** The losses are those of PyTorch, so the learning rate, the moments and the step counts have arrived. */
    @Test
    void trainingGoesOnFromACheckpointOfPython() {
        Leaks.none(() -> {
            Map<String, IValue> expected = Checkpoint.load(FILES.resolve("resumed.pt")).toStringDict();
            Map<String, IValue> all = python();
            try (Sequential model = dense(); Adam optimizer = new Adam(model.parameters(), 1e-3)) {
                model.loadStateDict(StateDict.of(all.get("model")));
                optimizer.loadCheckpoint(all.get("optimizer"));
                assertEquals(expected.get("lr").toDouble(), optimizer.parameterGroups().get(0).options().lr());
                Tensor x = Tensor.of(new float[][] {{0.5f, -1, 2}, {1, 0.25f, -0.5f}});
                List<Double> losses = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    optimizer.zeroGrad();
                    Tensor loss = model.forward(x).sub(700).abs().mean();
                    loss.backward();
                    optimizer.step();
                    losses.add(loss.item().doubleValue());
                }
                assertArrayEquals(expected.get("losses").toDoubleArray(),
                    losses.stream().mapToDouble(Double::doubleValue).toArray(), 1e-4);
            }
        });
    }

    @Test
    void aFileOfPythonWithAnOptimizerAloneHasItsOptions(@TempDir Path folder) {
        Leaks.none(() -> {
            Path file = folder.resolve("optimizer.pt");
            Checkpoint.save(python().get("optimizer"), file);
            try (Sequential model = dense(); Adam optimizer = new Adam(model.parameters(), 1e-3)) {
                optimizer.load(file);
                assertEquals(0.25, optimizer.parameterGroups().get(0).options().lr());
                assertEquals(1, optimizer.stateDict().get("state.3.step").item().doubleValue());
            }
        });
    }

    @Test
    void valuesAreReadBack(@TempDir Path folder) {
        Leaks.none(() -> {
            Map<Object, @Nullable Object> values = new LinkedHashMap<>();
            values.put("none", null);
            values.put("numbers", List.of(1, 2.5, true));
            values.put("tuple", new Object[] {-7L, "é\uD83D\uDE00"});
            values.put("by number", Map.of(5, Map.of("t", Tensor.of(1f, 2f))));
            values.put("dtype", DType.BFLOAT16);
            values.put("complex", Scalar.complex(1, -2));
            values.put("empty", List.of());
            String expected = "{\"none\": None, \"numbers\": [1, 2.5, True], \"tuple\": (-7, \"é\uD83D\uDE00\"), "
                + "\"by number\": {5: {\"t\": tensor([1., 2.])}}, \"dtype\": " + DType.BFLOAT16 + ", \"complex\": " + Scalar.complex(1, -2)
                + ", \"empty\": []}";
            Path file = folder.resolve("é.pt");
            Checkpoint.save(values, file);
            assertEquals(expected, Checkpoint.load(file).toString());
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            Checkpoint.save(values, out);
            assertEquals(expected, Checkpoint.load(out.toByteArray()).toString());
            assertEquals(expected, Checkpoint.load(new ByteArrayInputStream(out.toByteArray())).toString());
            // The tensors are also a state dict.
            assertEquals(List.of("by number.5.t"), List.copyOf(StateDict.load(file).keySet()));
        });
    }

    private static void step(Sequential model, Optimizer optimizer) {
        optimizer.step(() -> {
            optimizer.zeroGrad();
            Tensor loss = model.forward(Torch.ones(2, 3)).square().mean();
            loss.backward();
            return loss;
        });
    }

    private interface Creation {
        Optimizer of(Sequential model, boolean first);
    }

    /** Each kind of optimizer: state and options through a file, into one that was created with other options. */
    @Test
    void everyOptimizerIsRestored(@TempDir Path folder) {
        List<Creation> kinds = List.of(
            (model, first) -> new SGD(model.parameters(), first ? new SGD.Options(1e-4).withMomentum(0.5).withNesterov(true) : new SGD.Options(1)),
            (model, first) -> new Adam(model.parameters(), first ? new Adam.Options(0.01).withBeta1(0.5).withAmsgrad(true) : new Adam.Options(1)),
            (model, first) -> new AdamW(model.parameters(), first ? new AdamW.Options(0.01).withEps(1e-3) : new AdamW.Options(1)),
            (model, first) -> new RMSprop(model.parameters(), first ? new RMSprop.Options(0.01).withCentered(true) : new RMSprop.Options(1)),
            (model, first) -> new Adagrad(model.parameters(), first ? new Adagrad.Options(0.01).withLrDecay(0.1) : new Adagrad.Options(1)),
            (model, first) -> new LBFGS(model.parameters(), first ? new LBFGS.Options(0.1).withMaxIter(3) : new LBFGS.Options(1)));
        for (Creation kind : kinds) {
            Leaks.none(() -> {
                Path file = folder.resolve("all.pt");
                try (Sequential one = dense(); Sequential two = dense();
                        Optimizer first = kind.of(one, true); Optimizer second = kind.of(two, false)) {
                    step(one, first);
                    step(one, first);
                    Checkpoint.save(Map.of("model", one.stateDict(), "optimizer", first.checkpoint()), file);
                    Map<String, IValue> all = Checkpoint.load(file).toStringDict();
                    two.loadStateDict(StateDict.of(all.get("model")));
                    second.loadCheckpoint(all.get("optimizer"));
                    assertEquals(first.checkpoint().toString(), second.checkpoint().toString(), first.getClass().getName());
                    step(one, first);
                    step(two, second);
                    assertEquals(one.stateDict().toString(), two.stateDict().toString(), first.getClass().getName());
                }
            });
        }
    }

    @Test
    void whatDoesNotFitIsRejectedAndChangesNothing() {
        Leaks.none(() -> {
            IValue state = python().get("optimizer");
            try (Sequential model = dense(); AdamW decoupled = new AdamW(model.parameters(), 0.5);
                    Adam two = new Adam(new Adam.Options(0.5), new ParameterGroup(model.parameters().subList(0, 2)),
                        new ParameterGroup(model.parameters().subList(2, 4)));
                    Adam fewer = new Adam(model.parameters().subList(0, 3), 0.5)) {
                rejected("the state is one of Adam, not of AdamW", decoupled, state);
                rejected("parameter group 0 has 4 parameters, and that of the optimizer 2", two, state);
                rejected("parameter group 0 has 4 parameters, and that of the optimizer 3", fewer, state);
                rejected("the state of an optimizer has 'state' and 'param_groups', not [epoch]", fewer, IValue.of(Map.of("epoch", 1)));
                IValue unknown = IValue.of(Map.of("state", Map.of(), "param_groups", List.of(Map.of("lr", 0.1, "warmth", 2))));
                rejected("cannot load the state of Adam: parameter group 0: unknown options [warmth]", fewer, unknown);
                IValue text = IValue.of(Map.of("state", Map.of(), "param_groups", List.of(Map.of("lr", "high"))));
                assertEquals("the option 'lr' is STRING, not a number",
                    assertThrows(TensorTypeException.class, () -> fewer.loadCheckpoint(text)).getMessage());
            }
        });
    }

    private static void rejected(String message, Optimizer optimizer, IValue state) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> optimizer.loadCheckpoint(state)).getMessage());
        assertEquals(0.5, optimizer.parameterGroups().get(0).options().lr());
    }

    @Test
    void whatFilesCannotHoldIsRejected(@TempDir Path folder) {
        Leaks.none(() -> {
            Path file = folder.resolve("a.pt");
            assertThrows(TensorTypeException.class, () -> Checkpoint.save(new Object(), file));
            assertThrows(TensorTypeException.class, () -> Checkpoint.save(Map.of(0.5, 1), file));
            assertThrows(RushlightIOException.class, () -> Checkpoint.load(file));
            assertThrows(RushlightIOException.class, () -> Checkpoint.load(new byte[] {1, 2}));
            Tensor closed = Tensor.of(1f);
            closed.close();
            assertThrows(IllegalStateException.class, () -> Checkpoint.save(Map.of("w", closed), file));
        });
    }

    /** UTF-8 has no lone surrogates; replaced by U+FFFD, two names would become one. */
    @Test
    void namesWithALoneSurrogateAreRejected(@TempDir Path folder) {
        Leaks.none(() -> {
            Path file = folder.resolve("a.pt");
            Map<String, Tensor> state = Map.of("a\uD800", Torch.ones(1));
            String message = assertThrows(TensorValueException.class, () -> StateDict.save(state, file)).getMessage();
            assertEquals("the string 'a\uFFFD\uFFFD\uFFFD' has a lone surrogate, which UTF-8 cannot encode", message);
            assertThrows(TensorValueException.class, () -> StateDict.save(Map.of("\uDC00\uFFFD", Torch.ones(1)), file));
            // The character that stands for such errors is a character like others.
            for (String name : Arrays.asList("a\uFFFD", "\uD83D\uDE00", "\uFFFD\uFFFDé")) {
                StateDict.save(Map.of(name, Torch.ones(1)), file);
                assertEquals(List.of(name), List.copyOf(StateDict.load(file).keySet()));
            }
        });
    }
}
