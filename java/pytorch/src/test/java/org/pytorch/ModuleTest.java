package org.pytorch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Modules and the values that cross. {@code tests/oracle/java_models.py} writes the files. */
class ModuleTest {
    private static final Path FOLDER = Path.of("..", "..", "tests", "data", "script");
    private static final String CLASSIFIER = FOLDER.resolve("classifier.pt").toString();

    static Module values() {
        return Module.load(FOLDER.resolve("values.pt").toString());
    }

    @Test
    void noneIsAResultAndAnArgument() {
        Module module = values();
        IValue input = IValue.from(Tensor.fromBlob(Tensor.allocateByteBuffer(1), new long[] {1}));
        assertTrue(module.forward(input).isNull());
        assertTrue(module.runMethod("is_none", IValue.optionalNull()).toBool());
        assertFalse(module.runMethod("is_none", IValue.from(1)).toBool());
        assertTrue(module.runMethod("none_if_zero", IValue.from(0L)).isNull());
        assertEquals(5, module.runMethod("none_if_zero", IValue.from(5L)).toLong());
    }

    @Test
    void numbersSurvive() {
        Module module = values();
        for (boolean value : new boolean[] {false, true}) {
            assertEquals(value, module.runMethod("same_bool", IValue.from(value)).toBool());
        }
        for (long value : new long[] {Long.MIN_VALUE, -3, 0, 3, Long.MAX_VALUE}) {
            assertEquals(value, module.runMethod("same_int", IValue.from(value)).toLong());
        }
        for (double value : new double[] {-Double.MAX_VALUE, -Double.MIN_VALUE, 0, Double.MIN_VALUE, Math.E, Double.MAX_VALUE, Double.NaN}) {
            assertEquals(value, module.runMethod("same_float", IValue.from(value)).toDouble());
        }
    }

    @Test
    void stringsSurvive() {
        Module module = values();
        for (String text : List.of("", "ascii", "ελληνικά", "汉字", "\uD83E\uDD80", "%s {} \\")) {
            assertEquals(text, module.runMethod("same_str", IValue.from(text)).toStr());
            assertEquals(text + text + text, module.runMethod("three_times", IValue.from(text)).toStr());
        }
    }

    @Test
    void tensorsSurvive() {
        Module module = values();
        float[] elements = new float[2 * 3 * 50 * 50];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = i * 0.5f;
        }
        long[] shape = {2, 3, 50, 50};
        Tensor tensor = Tensor.fromBlob(elements, shape);
        IValue input = IValue.from(tensor);
        assertSame(tensor, input.toTensor());
        Tensor output = module.runMethod("same_tensor", input).toTensor();
        assertArrayEquals(shape, output.shape());
        assertArrayEquals(elements, output.getDataAsFloatArray());
        assertEquals("Tensor([2, 3, 50, 50], dtype=torch.float32)", output.toString());
    }

    @Test
    void listsSurvive() {
        Module module = values();
        for (int length : new int[] {0, 1, 100}) {
            long[] numbers = new long[length];
            long sum = 0;
            for (int i = 0; i < length; i++) {
                numbers[i] = 3 * i;
                sum += numbers[i];
            }
            IValue[] pair = module.runMethod("list_and_sum", IValue.listFrom(numbers)).toTuple();
            assertEquals(2, pair.length);
            assertTrue(pair[0].isLongList());
            assertArrayEquals(numbers, pair[0].toLongList());
            assertEquals(sum, pair[1].toLong());
        }
        assertArrayEquals(new boolean[] {true, false}, module.runMethod("same_bools", IValue.listFrom(true, false)).toBoolList());
        assertArrayEquals(new boolean[0], module.runMethod("same_bools", IValue.listFrom(new boolean[0])).toBoolList());
        assertArrayEquals(new double[] {1.5, -2}, module.runMethod("same_floats", IValue.listFrom(1.5, -2)).toDoubleList());
        IValue[] texts = module.runMethod("same_strs", IValue.listFrom(IValue.from("a"), IValue.from("b"))).toList();
        assertEquals("a b", texts[0].toStr() + " " + texts[1].toStr());
        IValue nested = module.runMethod("same_nested", IValue.listFrom(IValue.listFrom(1, 2), IValue.listFrom(new long[0])));
        assertTrue(nested.isList());
        assertArrayEquals(new long[] {1, 2}, nested.toList()[0].toLongList());
        assertArrayEquals(new long[0], nested.toList()[1].toLongList());
        Tensor one = Tensor.fromBlob(new int[] {7}, new long[] {1});
        IValue tensors = module.runMethod("same_tensors", IValue.listFrom(one, one));
        assertTrue(tensors.isTensorList());
        assertArrayEquals(new int[] {7}, tensors.toTensorList()[1].getDataAsIntArray());
        assertEquals(0, module.runMethod("same_tensors", IValue.listFrom(new Tensor[0])).toTensorList().length);
    }

    @Test
    void tuplesSurvive() {
        Tensor tensor = Tensor.fromBlob(new double[] {2.5}, new long[] {1, 1});
        IValue[] items = values().runMethod("same_tuple", IValue.tupleFrom(IValue.from(1), IValue.from("b"), IValue.from(tensor))).toTuple();
        assertEquals("1 b 2.5", items[0].toLong() + " " + items[1].toStr() + " " + items[2].toTensor().getDataAsDoubleArray()[0]);
        IValue[] named = values().runMethod("extent", IValue.listFrom(4, 2, 8)).toTuple();
        assertEquals("2 8", named[0].toLong() + " " + named[1].toLong());
    }

    @Test
    void dictsSurvive() {
        Module module = values();
        Map<Long, IValue> numbers = new HashMap<>();
        for (long key : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
            numbers.put(key, IValue.from(-key));
        }
        IValue output = module.runMethod("same_int_dict", IValue.dictLongKeyFrom(numbers));
        assertTrue(output.isDictLongKey() && !output.isDictStringKey());
        assertEquals(numbers.keySet(), output.toDictLongKey().keySet());
        output.toDictLongKey().forEach((key, value) -> assertEquals(-key, value.toLong()));
        Tensor tensor = Tensor.fromBlob(new long[] {9}, new long[] {1});
        IValue named = module.runMethod("same_str_dict", IValue.dictStringKeyFrom(Map.of("κλειδί", IValue.from(tensor))));
        assertTrue(named.isDictStringKey() && !named.isDictLongKey());
        assertArrayEquals(new long[] {9}, named.toDictStringKey().get("κλειδί").toTensor().getDataAsLongArray());
        IValue empty = module.runMethod("same_int_dict", IValue.dictLongKeyFrom(Map.of()));
        assertEquals(Map.of(), empty.toDictLongKey());
        assertEquals(Map.of(), empty.toDictStringKey());
        assertEquals(Map.of(), module.runMethod("same_int_dict", empty).toDictLongKey());
    }

    @Test
    void valuesWithoutAFormAreReported() {
        Module module = values();
        assertThrows(IllegalArgumentException.class, () -> module.runMethod("cast", IValue.from(Tensor.fromBlob(new int[1], new long[] {1})), IValue.from(11)));
        org.rushlight.ScriptModule same = org.rushlight.ScriptModule.load(FOLDER.resolve("values.pt"));
        try (same; org.rushlight.IValue complex = same.run("same_complex", org.rushlight.Scalar.complex(1, 2));
                org.rushlight.IValue dict = same.run("same_float_dict", Map.of(1.5, "x"))) {
            assertThrows(IllegalArgumentException.class, () -> IValue.wrap(complex));
            assertThrows(IllegalArgumentException.class, () -> IValue.wrap(dict));
        }
    }

    @Test
    void errorsOfCalls() {
        Module module = values();
        assertThrows(IllegalArgumentException.class, () -> module.runMethod("absent"));
        assertThrows(RuntimeException.class, () -> module.runMethod("same_int"));
        assertThrows(RuntimeException.class, () -> module.runMethod("same_int", IValue.from("text")));
        assertTrue(assertThrows(RuntimeException.class, () -> module.runMethod("fail", IValue.from("no luck"))).getMessage().contains("no luck"));
        assertThrows(NullPointerException.class, () -> module.runMethod("same_int", (IValue) null));
    }

    @Test
    void valuesOfAnotherTypeAreReported() {
        IValue number = IValue.from(1L);
        for (Callable<?> wrong : List.<Callable<?>>of(number::toTensor, number::toBool, number::toDouble, number::toStr, number::toTuple, number::toBoolList,
                number::toLongList, number::toDoubleList, number::toTensorList, number::toList, number::toDictStringKey, number::toDictLongKey,
                IValue.from("1")::toLong)) {
            assertThrows(IllegalStateException.class, wrong::call);
        }
        assertThrows(IllegalArgumentException.class, () -> IValue.listFrom(IValue.from(1), IValue.from("a")));
        assertThrows(NullPointerException.class, () -> IValue.from((String) null));
    }

    @Test
    void everyTypeIsRecognisedByOneQuery() {
        List<IValue> all = List.of(IValue.optionalNull(), IValue.from(Tensor.fromBlob(new float[0], new long[] {0})), IValue.from(true), IValue.from(1),
            IValue.from(1.5), IValue.from("a"), IValue.tupleFrom(), IValue.listFrom(true), IValue.listFrom(1L), IValue.listFrom(1.5),
            IValue.listFrom(new Tensor[0]), IValue.listFrom(new IValue[0]), IValue.dictStringKeyFrom(Map.of()), IValue.dictLongKeyFrom(Map.of()));
        for (int i = 0; i < all.size(); i++) {
            IValue value = all.get(i);
            boolean[] answers = {value.isNull(), value.isTensor(), value.isBool(), value.isLong(), value.isDouble(), value.isString(), value.isTuple(),
                value.isBoolList(), value.isLongList(), value.isDoubleList(), value.isTensorList(), value.isList(), value.isDictStringKey(),
                value.isDictLongKey()};
            for (int j = 0; j < answers.length; j++) {
                assertEquals(i == j, answers[j], i + " " + j);
            }
        }
    }

    @Test
    void extraFilesAreRead() {
        Map<String, String> files = new HashMap<>();
        files.put("classes.txt", "");
        files.put("absent.txt", null);
        Module module = Module.load(CLASSIFIER, files, Device.CPU);
        assertEquals("red\ngreen\nblue\n", files.get("classes.txt"));
        assertNull(files.get("absent.txt"));
        Tensor image = Tensor.fromBlob(new float[] {0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0}, new long[] {1, 3, 2, 2}, MemoryFormat.CHANNELS_LAST);
        float[] scores = module.forward(IValue.from(image)).toTensor().getDataAsFloatArray();
        assertTrue(scores[1] > 2.9 && scores[0] == 0 && scores[2] == 0, java.util.Arrays.toString(scores));
        assertThrows(UnsupportedOperationException.class, () -> Module.load(CLASSIFIER, null, Device.VULKAN));
        assertThrows(RuntimeException.class, () -> Module.load("absent.pt"));
        assertThrows(NullPointerException.class, () -> Module.load(null));
    }

    @Test
    void theLiteLoaderGivesTheSameModules() {
        Tensor image = Tensor.fromBlob(new float[12], new long[] {1, 3, 2, 2});
        Map<String, String> files = new HashMap<>(Map.of("classes.txt", ""));
        for (Module module : List.of(LiteModuleLoader.load(CLASSIFIER), LiteModuleLoader.load(CLASSIFIER, files, Device.CPU))) {
            assertArrayEquals(new float[3], module.forward(IValue.from(image)).toTensor().getDataAsFloatArray());
        }
        assertTrue(files.get("classes.txt").startsWith("red"));
    }

    @Test
    void modulesAreInEvaluationModeAndRecordNothing() {
        Module module = values();
        assertEquals("evaluation", module.runMethod("mode").toStr());
        Tensor x = Tensor.fromBlob(new float[] {1, 2}, new long[] {2});
        IValue scaled = module.runMethod("scaled", IValue.from(x), IValue.from(3.0), IValue.from(0.0));
        assertArrayEquals(new float[] {3, -12}, scaled.toTensor().getDataAsFloatArray());
    }

    @Test
    void aDestroyedModuleCannotBeUsed() {
        Module module = values();
        Tensor result = module.runMethod("every_other").toTensor();
        module.destroy();
        module.destroy();
        assertThrows(IllegalStateException.class, () -> module.runMethod("every_other"));
        assertArrayEquals(new long[] {20, 40}, result.getDataAsLongArray());
    }

    @Test
    void manyThreadsUseOneModule() throws Exception {
        Module module = values();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            Callable<Boolean> work = () -> {
                for (int i = 0; i < 200; i++) {
                    Tensor x = Tensor.fromBlob(new float[] {i, 1}, new long[] {2});
                    float[] got = module.runMethod("scaled", IValue.from(x)).toTensor().getDataAsFloatArray();
                    if (got[0] != 2 * i || got[1] != -4) {
                        return false;
                    }
                }
                return true;
            };
            List<Future<Boolean>> running = new ArrayList<>(threads.invokeAll(Collections.nCopies(8, work)));
            for (Future<Boolean> done : running) {
                assertTrue(done.get());
            }
        } finally {
            threads.shutdown();
        }
    }

    /** Neither modules nor results have to be closed: the garbage collector frees them. */
    @Test
    void nothingIsLeftOver() throws InterruptedException {
        Runtime.getRuntime().gc();
        Thread.sleep(100);
        long before = org.rushlight.Torch.memoryStats().liveHandles();
        for (int i = 0; i < 50; i++) {
            values().runMethod("parts");
        }
        long left = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 250 && left > before; attempt++) {
            Runtime.getRuntime().gc();
            Thread.sleep(20);
            left = org.rushlight.Torch.memoryStats().liveHandles();
        }
        assertTrue(left <= before, left + " handles are left, not " + before);
    }

    @Test
    void threadsAreSet() {
        int before = org.rushlight.Torch.getNumThreads();
        PyTorchAndroid.setNumThreads(1);
        assertEquals(1, org.rushlight.Torch.getNumThreads());
        PyTorchAndroid.setNumThreads(before);
        assertThrows(IllegalArgumentException.class, () -> PyTorchAndroid.setNumThreads(0));
    }
}
