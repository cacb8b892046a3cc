package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.nn.Linear;
import org.rushlight.optim.SGD;

/** Saved models: every kind of value, attributes, modes, printing, errors, lifetime. {@code tests/oracle/java_models.py} writes the files. */
class ScriptModuleTest {
    private static final Path FOLDER = Path.of("..", "tests", "data", "script");
    static final Path VALUES = FOLDER.resolve("values.pt");
    private static final Path NET = FOLDER.resolve("net.pt");
    private static final Path CLASSIFIER = FOLDER.resolve("classifier.pt");

    private interface Body {
        void run(ScriptModule module);
    }

    /** Runs a body with the module of a file, and checks that no handle is left over. */
    private static void with(Path file, Body body) {
        Leaks.none(() -> {
            try (ScriptModule module = ScriptModule.load(file)) {
                body.run(module);
            }
        });
    }

    private static void same(ScriptModule module, String method, Object value, String printed, IValue.Kind kind) {
        IValue result = module.run(method, value);
        assertEquals(kind, result.kind(), method);
        assertEquals(printed, result.toString(), method);
    }

    @Test
    void numbersAndStringsCrossUnchanged() {
        with(VALUES, module -> {
            for (long value : new long[] {Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE}) {
                assertEquals(value, module.run("same_int", value).toLong());
            }
            for (double value : new double[] {-Double.MAX_VALUE, Double.MIN_VALUE, -0.0, Math.PI, Double.NaN, Double.NEGATIVE_INFINITY}) {
                assertEquals(value, module.run("same_float", value).toDouble());
            }
            assertEquals(3.0, module.run("same_float", 3).toDouble(), "an integer for a float");
            assertTrue(module.run("same_bool", true).toBool());
            assertFalse(module.run("same_bool", false).toBool());
            assertEquals(Scalar.complex(1.5, -2), module.run("same_complex", Scalar.complex(1.5, -2)).toScalar());
            for (String text : List.of("", "plain", "größer als λ", "nul \0 inside", "\uD83E\uDD80")) {
                assertEquals(text, module.run("same_str", text).toStr());
            }
            assertEquals(Device.CPU, module.run("same_device", Device.CPU).toDevice());
            assertEquals("ababab", module.run("three_times", "ab").toStr());
        });
    }

    @Test
    void callsGoOnStepByStep() {
        with(VALUES, module -> {
            try (ScriptRun run = module.begin("list_and_sum", new long[] {4, 5, 6})) {
                assertThrows(RushlightException.class, run::result, "a call that is not done has a result");
                assertThrows(IllegalArgumentException.class, () -> run.step(Duration.ofNanos(-1)));
                int parts = 1;
                while (!run.step(Duration.ZERO)) {
                    parts++;
                }
                assertTrue(parts > 1, "all operators ran at once");
                assertEquals(15, run.result().toTuple().get(1).toLong());
                assertEquals(1.0, run.progress().orElseThrow());
            }
        });
    }

    @Test
    @SuppressWarnings("try")
    void compiledModulesKeepWeightsInLessPrecision() {
        try (Scope scope = new Scope();
                Linear layer = new Linear(64, 48);
                ScriptModule traced = ScriptModule.trace(layer, Torch.ones(2, 64));
                NoGrad guard = new NoGrad()) {
            traced.train(false);
            Tensor x = Torch.randn(3, 64);
            for (DType weights : List.of(DType.FLOAT32, DType.BFLOAT16, DType.INT8)) {
                Tensor rounded = weights == DType.BFLOAT16 ? layer.weight().to(DType.BFLOAT16).to(DType.FLOAT32) : layer.weight();
                if (weights == DType.INT8) {
                    Tensor scale = layer.weight().abs().amax(new long[] {1}, true).div(127);
                    rounded = layer.weight().div(scale).round().mul(scale);
                }
                Tensor expected = x.mm(rounded.t()).add(layer.bias());
                try (ScriptModule fast = traced.compile(weights)) {
                    assertTrue(Torch.allclose(fast.forward(x).toTensor(), expected, 1e-5, 1e-5), weights.name());
                    assertTrue(fast.plan("forward").contains(", weights " + weights.name().toLowerCase(Locale.ROOT)), fast.plan("forward"));
                }
            }
            assertThrows(RushlightException.class, () -> traced.compile(DType.FLOAT16));
        }
    }

    @Test
    void containersCrossUnchanged() {
        with(VALUES, module -> {
            same(module, "same_bools", new boolean[] {true, false}, "[True, False]", IValue.Kind.LIST);
            same(module, "same_floats", new double[] {1.5, -2}, "[1.5, -2.0]", IValue.Kind.LIST);
            same(module, "same_floats", List.of(1.5, 2), "[1.5, 2.0]", IValue.Kind.LIST);
            same(module, "same_floats", List.of(), "[]", IValue.Kind.LIST);
            same(module, "same_strs", List.of("a", "b"), "[\"a\", \"b\"]", IValue.Kind.LIST);
            same(module, "same_strs", new String[0], "[]", IValue.Kind.LIST);
            same(module, "same_nested", List.of(List.of(1, 2), List.of()), "[[1, 2], []]", IValue.Kind.LIST);
            same(module, "same_nested", List.of(IValue.of(new long[] {1, 2}), IValue.of(new int[] {3})), "[[1, 2], [3]]", IValue.Kind.LIST);
            same(module, "same_int_dict", Map.of(1L, -1L), "{1: -1}", IValue.Kind.DICT);
            same(module, "same_float_dict", Map.of(0.5, "half"), "{0.5: \"half\"}", IValue.Kind.DICT);
            same(module, "same_int_dict", Map.of(), "{}", IValue.Kind.DICT);
            Tensor x = Tensor.of(1f, 2f);
            same(module, "same_tuple", new Object[] {1, "a", x}, "(1, \"a\", tensor([1., 2.]))", IValue.Kind.TUPLE);
            same(module, "same_tuple", IValue.tuple(1, "a", x), "(1, \"a\", tensor([1., 2.]))", IValue.Kind.TUPLE);
            same(module, "same_tensors", new Tensor[] {x}, "[tensor([1., 2.])]", IValue.Kind.LIST);
            same(module, "same_optional_tensors", Arrays.asList(x, null), "[tensor([1., 2.]), None]", IValue.Kind.LIST);
            same(module, "extent", new long[] {3, 9, 4}, "(3, 9)", IValue.Kind.TUPLE);
            assertEquals(List.of(Map.entry("x", "tensor([1., 2.])")), module.run("same_str_dict", Map.of("x", x)).toStringDict().entrySet().stream()
                .map(entry -> Map.entry(entry.getKey(), entry.getValue().toString())).toList());
            assertEquals(Map.of(0.5, "half"), Map.copyOf(texts(module.run("same_float_dict", Map.of(0.5, "half")))));
            List<IValue> pair = module.run("list_and_sum", new long[] {4, 5, 6}).toTuple();
            assertArrayEquals(new long[] {4, 5, 6}, pair.get(0).toLongArray());
            assertEquals(15, pair.get(1).toLong());
        });
    }

    private static Map<Object, String> texts(IValue dict) {
        Map<Object, String> texts = new LinkedHashMap<>();
        dict.toDict().forEach((key, value) -> texts.put(key, value.toStr()));
        return texts;
    }

    @Test
    void noneCrosses() {
        with(VALUES, module -> {
            assertTrue(module.forward(Tensor.of(1f)).isNone());
            assertTrue(module.run("is_none", (Object) null).toBool());
            assertFalse(module.run("is_none", 1).toBool());
            assertTrue(module.run("none_if_zero", 0).isNone());
            assertEquals(7, module.run("none_if_zero", 7).toLong());
        });
    }

    @Test
    void kindsOfItemsAreKnownForEmptyListsToo() {
        with(VALUES, module -> {
            assertEquals(IValue.Kind.INT, module.run("list_and_sum", new long[0]).toTuple().get(0).elementKind());
            assertEquals(IValue.Kind.DOUBLE, module.run("same_floats", List.of()).elementKind());
            assertEquals(IValue.Kind.BOOL, module.run("same_bools", List.of()).elementKind());
            assertEquals(IValue.Kind.TENSOR, module.run("same_tensors", List.of()).elementKind());
            assertEquals(IValue.Kind.STRING, module.run("same_strs", List.of("a")).elementKind());
            assertNull(module.run("same_nested", List.of()).elementKind());
            assertNull(IValue.of(List.of(1, "a")).elementKind());
        });
    }

    @Test
    void valuesAreImmutable() {
        long[] numbers = {1, 2};
        List<Object> items = new ArrayList<>(List.of("a"));
        IValue list = IValue.of(numbers);
        IValue strings = IValue.of(items);
        numbers[0] = 9;
        items.add("b");
        list.toLongArray()[1] = 9;
        assertEquals("[1, 2] [\"a\"]", list + " " + strings);
        assertThrows(UnsupportedOperationException.class, () -> strings.toList().clear());
        assertSame(list, IValue.of(list));
    }

    @Test
    void wrongKindsAreNamed() {
        TensorTypeException wrong = assertThrows(TensorTypeException.class, () -> IValue.of("text").toTensor());
        assertEquals("the value is STRING, not TENSOR", wrong.getMessage());
        assertThrows(TensorTypeException.class, () -> IValue.of(1.5).toLong());
        assertThrows(TensorTypeException.class, () -> IValue.of(true).toLong());
        assertThrows(TensorTypeException.class, () -> IValue.of(List.of(1, "a")).toLongArray());
        assertThrows(TensorTypeException.class, () -> IValue.of(Map.of(1, 2)).toStringDict());
        assertThrows(TensorTypeException.class, () -> IValue.of(new Object()));
        List<Object> self = new ArrayList<>();
        self.add(self);
        assertThrows(TensorTypeException.class, () -> IValue.of(self));
    }

    @Test
    void argumentsAreMatchedByPositionAndName() {
        with(VALUES, module -> {
            Tensor x = Tensor.of(1f, 2f);
            assertEquals("[2.0, -8.0]", numbers(module.run("scaled", x)));
            assertEquals("[2.5, -7.5]", numbers(module.run("scaled", new Object[] {x}, Map.of("shift", 0.5))));
            assertEquals("[1.0, -4.0]", numbers(module.run("scaled", x, 1)));
            assertTrue(assertThrows(RushlightException.class, () -> module.run("scaled")).getMessage().contains("missing value for argument 'x'"));
            assertThrows(RushlightException.class, () -> module.run("scaled", x, "text"));
            assertThrows(RushlightException.class, () -> module.run("scaled", new Object[] {x}, Map.of("unknown", 1)));
            assertTrue(assertThrows(RushlightException.class, () -> module.run("absent")).getMessage().contains("absent"));
            assertTrue(assertThrows(RushlightException.class, () -> module.run("fail", "too bad")).getMessage().contains("too bad"));
        });
    }

    private static String numbers(IValue tensor) {
        double[] numbers = new double[(int) tensor.toTensor().numel()];
        float[] narrow = tensor.toTensor().detach().toFloatArray();
        Arrays.setAll(numbers, index -> narrow[index]);
        return Arrays.toString(numbers);
    }

    @Test
    void everySourceLoadsTheSameModule(@TempDir Path folder) throws IOException {
        byte[] bytes = Files.readAllBytes(CLASSIFIER);
        ByteBuffer part = ByteBuffer.allocateDirect(bytes.length + 2).put((byte) 1).put(bytes).put((byte) 1).flip().position(1).limit(bytes.length + 1);
        URI jar = URI.create("jar:" + folder.resolve("models.jar").toUri());
        Leaks.none(() -> {
            List<ScriptModule> modules = new ArrayList<>(List.of(ScriptModule.load(CLASSIFIER), ScriptModule.load(CLASSIFIER.toString()),
                ScriptModule.load(bytes), ScriptModule.load(part), ScriptModule.load(new ByteArrayInputStream(bytes))));
            try (FileSystem files = FileSystems.newFileSystem(jar, Map.of("create", "true"))) {
                Files.write(files.getPath("model.pt"), bytes);
                modules.add(ScriptModule.load(files.getPath("model.pt")));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            assertEquals(1, part.position());
            Tensor image = Torch.zeros(1, 3, 2, 2);
            image.set(1, Index.at(0), Index.at(1));
            for (ScriptModule module : modules) {
                assertEquals(1, module.forward(image).toTensor().argmax().itemLong());
                assertEquals("red\ngreen\nblue\n", new String(module.extraFile("classes.txt"), StandardCharsets.UTF_8));
                assertNull(module.extraFile("absent"));
                module.close();
            }
        });
    }

    @Test
    void otherFilesAreRejected(@TempDir Path folder) {
        assertThrows(RushlightIOException.class, () -> ScriptModule.load(folder.resolve("absent.pt")));
        assertThrows(RushlightIOException.class, () -> ScriptModule.load(new byte[] {1, 2, 3}));
        assertThrows(RushlightIOException.class, () -> ScriptModule.load(new byte[0]));
    }

    @Test
    void filesOfTensorsAreModulesWithoutMethods(@TempDir Path folder) {
        StateDict.save(Map.of("w", Tensor.of(1f)), folder.resolve("state.pt"));
        try (ScriptModule state = ScriptModule.load(folder.resolve("state.pt"))) {
            assertEquals(Set.of("w"), state.namedParameters().keySet());
            assertEquals(1f, state.namedParameters().get("w").itemFloat());
            assertThrows(RushlightException.class, () -> state.forward(Tensor.of(1f)));
        }
    }

    @Test
    void attributesAreReadAndSet() {
        with(VALUES, module -> {
            assertEquals("{\"a\": 1}", module.attribute("counts").toString());
            assertEquals(1.5, module.attribute("factor").toDouble());
            module.setAttribute("factor", 2);
            assertEquals(2.0, module.attribute("factor").toDouble());
            module.setAttribute("shape", List.of());
            assertEquals("[]", module.attribute("shape").toString());
            assertThrows(RushlightException.class, () -> module.setAttribute("factor", "text"));
            assertThrows(RushlightException.class, () -> module.setAttribute("absent", 1));
            assertThrows(RushlightException.class, () -> module.attribute("absent"));
            assertEquals(List.of("part"), module.childNames());
            try (ScriptModule part = module.child("part")) {
                assertTrue(module.attribute("part.gain").toTensor().isAliasOf(part.attribute("gain").toTensor()));
                assertEquals("[1.0, -2.0]", numbers(part.forward(Torch.ones(2))));
            }
            assertThrows(TensorIndexException.class, () -> module.child("absent"));
            assertEquals(List.of("part.gain"), List.copyOf(module.namedParameters().keySet()));
            assertEquals(List.of("offset"), List.copyOf(module.namedBuffers().keySet()));
            assertEquals(1, module.parameters().size() * module.buffers().size());
        });
    }

    @Test
    void modesAndCopies() {
        with(VALUES, module -> {
            assertTrue(module.isTraining());
            assertEquals("training", module.run("mode").toStr());
            module.eval();
            assertEquals("evaluation", module.run("mode").toStr());
            try (ScriptModule copy = module.copy()) {
                copy.train();
                assertFalse(module.isTraining());
                copy.parameters().get(0).detach().fill_(5);
                assertEquals("[1.0, -2.0]", numbers(module.attribute("part.gain")));
            }
            module.to(DType.FLOAT64);
            assertEquals(DType.FLOAT64, module.parameters().get(0).dtype());
            module.to(Device.CPU, DType.FLOAT32);
            module.to(Device.CPU);
            assertEquals(DType.FLOAT32, module.buffers().get(0).dtype());
            assertEquals("ScriptModule(__torch__.Values)", module.toString());
        });
    }

    @Test
    void methodsAreDescribed() {
        with(VALUES, module -> {
            assertTrue(module.methods().containsAll(List.of("forward", "scaled", "say")));
            assertEquals("scaled(__torch__.Values self, Tensor x, float factor=2., float shift=0.) -> Tensor", module.schema("scaled"));
            assertTrue(module.graph("scaled").contains("aten::mul"), module.graph("scaled"));
            assertThrows(RushlightException.class, () -> module.schema("absent"));
            assertThrows(RushlightException.class, () -> module.graph("absent"));
        });
    }

    @Test
    void printedTextGoesToTheConsumer() {
        with(VALUES, module -> {
            module.run("say", "discarded", 1);
            StringBuilder text = new StringBuilder();
            module.setPrint(text::append);
            module.run("say", "größe", 2);
            assertEquals("größe 0\ngröße 1\n", text.toString());
            IllegalArgumentException thrown = new IllegalArgumentException("full");
            module.setPrint(part -> {
                text.append(part);
                throw thrown;
            });
            assertSame(thrown, assertThrows(IllegalArgumentException.class, () -> module.run("say", "once", 3)));
            assertEquals("größe 0\ngröße 1\nonce 0", text.toString().strip());
            module.setPrint(null);
            module.run("say", "discarded", 1);
            assertEquals("größe 0\ngröße 1\nonce 0", text.toString().strip());
        });
    }

    @Test
    void aLoadedModuleCanBeTrained() {
        with(CLASSIFIER, module -> {
            Tensor images = Torch.rand(8, 3, 4, 4);
            Tensor classes = Torch.zeros(new long[] {8}, TensorOptions.of(DType.INT64));
            module.train();
            try (SGD optimizer = new SGD(module.parameters(), new SGD.Options(0.5))) {
                double first = 0;
                double last = 0;
                for (int step = 0; step < 10; step++) {
                    optimizer.zeroGrad();
                    Tensor loss = Torch.crossEntropyLoss(module.forward(images).toTensor(), classes);
                    loss.backward();
                    optimizer.step();
                    last = loss.itemDouble();
                    first = step == 0 ? last : first;
                }
                assertTrue(last < first / 2, first + " -> " + last);
            }
            for (Tensor parameter : module.parameters()) {
                Tensor grad = parameter.grad();
                assertTrue(grad != null);
            }
        });
    }

    @Test
    void manyThreadsRunOneModule() throws Exception {
        List<Float> expected = List.of(2f, -8f);
        ExecutorService threads = Executors.newFixedThreadPool(8);
        long before = Leaks.live();
        try (ScriptModule module = ScriptModule.load(VALUES)) {
            Callable<Boolean> work = () -> {
                for (int i = 0; i < 200; i++) {
                    try (Scope scope = new Scope(); NoGrad guard = new NoGrad()) {
                        assert scope != null && guard != null;
                        float[] got = module.run("scaled", Tensor.of(1f, 2f)).toTensor().toFloatArray();
                        if (!expected.equals(List.of(got[0], got[1]))) {
                            return false;
                        }
                    }
                }
                return true;
            };
            for (Future<Boolean> done : threads.invokeAll(Collections.nCopies(8, work))) {
                assertTrue(done.get());
            }
        } finally {
            threads.shutdown();
        }
        assertEquals(before, Leaks.live());
    }

    /** Closing while other threads run methods: each call returns or throws, and nothing is left over. */
    @Test
    void closingARunningModuleIsSafe() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        long before = Leaks.live();
        try {
            for (int round = 0; round < 20; round++) {
                ScriptModule module = ScriptModule.load(VALUES);
                Callable<String> work = () -> {
                    try {
                        while (true) {
                            module.run("three_times", "ab");
                        }
                    } catch (IllegalStateException e) {
                        return e.getMessage();
                    }
                };
                List<Future<String>> running = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    running.add(threads.submit(work));
                }
                module.run("three_times", "ab");
                module.close();
                for (Future<String> done : running) {
                    assertEquals("the module is closed", done.get());
                }
            }
        } finally {
            threads.shutdown();
        }
        assertEquals(before, Leaks.live());
    }

    @Test
    void resultsOutliveTheModuleAndBelongToTheScope() {
        Leaks.none(() -> {
            IValue result;
            IValue kept;
            try (Scope scope = new Scope()) {
                try (ScriptModule module = ScriptModule.load(NET)) {
                    result = module.forward(Torch.ones(1, 3));
                    kept = module.forward(Torch.ones(1, 3));
                    scope.keep(kept.toTensor());
                }
                assertEquals("[7.0, 23.0]", numbers(result));
            }
            assertThrows(IllegalStateException.class, () -> result.toTensor().shape());
            assertEquals(2, kept.toTensor().numel());
            kept.close();
            kept.close();
            assertThrows(IllegalStateException.class, kept::toTensor);
        });
    }

    /** A closed tensor among the arguments is reported before the call. */
    @Test
    void closedArgumentsAreReported() {
        with(VALUES, module -> {
            Tensor closed = Tensor.of(1f);
            closed.close();
            assertThrows(IllegalStateException.class, () -> module.run("same_tensor", closed));
            assertThrows(IllegalStateException.class, () -> module.run("same_tensors", List.of(closed)));
            IValue value = IValue.of(Tensor.of(1f));
            value.close();
            assertThrows(IllegalStateException.class, () -> module.run("same_tensor", value));
        });
    }

    /** Modules and results that are never closed are freed by the garbage collector. */
    @Test
    void unclosedModulesAreCollected() {
        long before = Leaks.live();
        for (int i = 0; i < 20; i++) {
            ScriptModule.load(VALUES).run("parts");
        }
        Leaks.collect(before);
    }
}
