package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.rushlight.data.DataLoader;
import org.rushlight.data.Dataset;
import org.rushlight.data.TensorDataset;
import org.rushlight.inference.Predictor;
import org.rushlight.nn.Apply;
import org.rushlight.nn.Linear;
import org.rushlight.nn.Module;
import org.rushlight.nn.ParameterDict;
import org.rushlight.nn.ParameterList;
import org.rushlight.nn.TransformerDecoder;
import org.rushlight.nn.TransformerDecoderLayer;
import org.rushlight.optim.Adam;
import org.rushlight.optim.Optimizer;
import org.rushlight.optim.ParameterGroup;

/** Closed objects stay closed: every method of every closeable class throws, and closing twice does nothing. */
class CloseablesTest {
    /** Methods that may be called on closed objects. */
    private static final Set<String> ALLOWED = Set.of("close", "toString", "equals", "hashCode", "getClass", "notify", "notifyAll", "wait", "metrics");

    /** One instance of each implementation class. {@link Tensor} has {@link ClosedTensorTest}. */
    private static Map<Class<?>, AutoCloseable> oneOfEach(Tensor tensor) {
        Map<Class<?>, AutoCloseable> all = new LinkedHashMap<>();
        all.put(Generator.class, new Generator(1));
        all.put(Library.class, new Library("closeables"));
        all.put(Module.class, new Linear(2, 2));
        all.put(Optimizer.class, new Adam(List.of(tensor)));
        TensorDataset dataset;
        try (Tensor data = Torch.ones(2, 2); Tensor targets = Torch.ones(2)) {
            dataset = new TensorDataset(data, targets);
        }
        all.put(Dataset.class, dataset);
        all.put(DataLoader.class, DataLoader.of(dataset, new DataLoader.Options(1)));
        all.put(Predictor.class, Predictor.of(Tensor::relu, new Predictor.Options()));
        all.put(Tensor.Hook.class, tensor.registerHook(UnaryOperator.identity()));
        try (Tensor product = tensor.mul(2)) {
            all.put(Node.class, product.gradNode());
        }
        ScriptModule module = ScriptModule.load(ScriptModuleTest.VALUES);
        all.put(ScriptModule.class, module);
        all.put(ScriptRun.class, module.begin("same_int", 1));
        all.put(IValue.class, IValue.of(1));
        all.put(Profiler.class, Profiler.start(new Profiler.Options().withThisThread(true)));
        all.put(Profiler.Range.class, Profiler.record("range"));
        all.put(Scope.class, new Scope());
        all.put(Scope.Entered.class, Scope.detached().enter());
        all.put(NoGrad.class, new NoGrad());
        all.put(EnableGrad.class, new EnableGrad());
        all.put(InferenceMode.class, new InferenceMode());
        all.put(DetectAnomaly.class, new DetectAnomaly());
        CancelToken token = new CancelToken();
        all.put(CancelToken.class, token);
        all.put(CancelScope.class, new CancelScope(token));
        all.put(SavedTensorsHooks.class, SavedTensorsHooks.of(kept -> kept, kept -> kept));
        return all;
    }

    private static void closeAll(Iterable<AutoCloseable> closeables) throws Exception {
        List<AutoCloseable> newestFirst = new ArrayList<>();
        closeables.forEach(closeable -> newestFirst.add(0, closeable));
        for (AutoCloseable closeable : newestFirst) {
            closeable.close();
        }
    }

    @Test
    void everyCloseableClassIsHere() throws Exception {
        try (Tensor tensor = Torch.ones(2).requiresGrad_(true)) {
            Map<Class<?>, AutoCloseable> all = oneOfEach(tensor);
            closeAll(all.values());
            List<String> missing = new ArrayList<>();
            for (Class<?> type : NamesTest.publicClasses()) {
                boolean known = type.isAssignableFrom(Tensor.class) || all.keySet().stream().anyMatch(known1 -> known1.isAssignableFrom(type));
                if (AutoCloseable.class.isAssignableFrom(type) && !known) {
                    missing.add(type.getName());
                }
            }
            assertEquals(List.of(), missing);
        }
    }

    @Test
    void everyMethodThrowsAndClosingAgainDoesNothing() throws Exception {
        List<String> wrong = new ArrayList<>();
        int called = 0;
        try (Tensor tensor = Torch.ones(2).requiresGrad_(true)) {
            Map<Class<?>, AutoCloseable> all = oneOfEach(tensor);
            closeAll(all.values());
            closeAll(all.values());
            for (AutoCloseable closed : all.values()) {
                for (Method method : closed.getClass().getMethods()) {
                    if (Modifier.isStatic(method.getModifiers()) || ALLOWED.contains(method.getName())) {
                        continue;
                    }
                    called++;
                    String outcome = call(method, closed, tensor);
                    if (!outcome.isEmpty()) {
                        wrong.add(method + ": " + outcome);
                    }
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(called > 50, called + " methods found");
    }

    /** Loggers and debuggers call it. */
    @Test
    void theStringOfAClosedObjectIsNoError() throws Exception {
        try (Tensor tensor = Torch.ones(2).requiresGrad_(true)) {
            Map<Class<?>, AutoCloseable> all = oneOfEach(tensor);
            closeAll(all.values());
            all.values().forEach(closed -> assertFalse(closed.toString().isEmpty(), closed.getClass().getName()));
            for (Supplier<? extends Module> make : LayersTest.layers().values()) {
                Module module = make.get();
                String open = module.toString();
                module.close();
                assertEquals(open, module.toString());
            }
            Tensor closed = Torch.ones(2);
            closed.close();
            assertEquals("tensor(closed)", closed.toString());
            assertEquals("example: tensor(closed)", "example: " + closed);
            Tensor open = Torch.ones(2000, 2);
            Torch.setCancelled(true);
            try {
                assertTrue(open.toString().startsWith("tensor("), open.toString());
            } finally {
                Torch.setCancelled(false);
                open.close();
            }
        }
    }

    /** Every module of this library throws after close, with or without parameters. */
    @Test
    void everyMethodOfEveryModuleThrows() throws Exception {
        List<String> wrong = new ArrayList<>();
        Set<Class<?>> made = new HashSet<>();
        long before = Leaks.live();
        try (Scope scope = new Scope(); Tensor tensor = Torch.ones(2, 2)) {
            assert scope != null;
            Map<String, Supplier<? extends Module>> layers = new LinkedHashMap<>(LayersTest.layers());
            layers.put("ParameterList", () -> new ParameterList(Torch.ones(2)));
            layers.put("ParameterDict", () -> new ParameterDict(Map.of("one", Torch.ones(2))));
            layers.put("Apply", () -> new Apply(Tensor::relu));
            layers.put("TransformerDecoder", () -> {
                try (TransformerDecoderLayer layer = new TransformerDecoderLayer(4, 2)) {
                    return new TransformerDecoder(layer, 1);
                }
            });
            for (Supplier<? extends Module> make : layers.values()) {
                Module module = make.get();
                module.close();
                if (!made.add(module.getClass())) {
                    continue;
                }
                for (Method method : module.getClass().getMethods()) {
                    if (Modifier.isStatic(method.getModifiers()) || ALLOWED.contains(method.getName()) || method.isBridge()) {
                        continue;
                    }
                    String outcome = call(method, module, tensor);
                    if (!outcome.isEmpty()) {
                        wrong.add(module.getClass().getSimpleName() + ": " + method + ": " + outcome);
                    }
                }
            }
        }
        List<String> missing = NamesTest.publicClasses().stream()
            .filter(type -> Module.class.isAssignableFrom(type) && !Modifier.isAbstract(type.getModifiers()) && !made.contains(type))
            .map(Class::getSimpleName).toList();
        assertEquals(List.of(), missing);
        assertEquals("", String.join("\n", wrong));
        assertEquals(before, Leaks.live());
    }

    private static String call(Method method, AutoCloseable closed, Tensor tensor) throws ReflectiveOperationException {
        Object[] arguments = new Object[method.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(method.getParameterTypes()[i], tensor);
        }
        try {
            Object result = method.invoke(closed, arguments);
            if (result instanceof Dataset<?> lazy) {
                // The result calls the closed object when it is used.
                return call(Dataset.class.getMethod("size"), lazy, tensor);
            }
            // A module returns its parameters, which are closed.
            return result instanceof Tensor given && given.isClosed() ? "" : "returned " + result;
        } catch (InvocationTargetException e) {
            boolean fine = e.getCause() instanceof IllegalStateException && e.getCause().getMessage().contains("is closed");
            return fine ? "" : "threw " + e.getCause();
        }
    }

    private static Object argument(Class<?> type, Tensor tensor) {
        return Map.<Class<?>, Object>ofEntries(Map.entry(Tensor.class, tensor), Map.entry(long.class, 0L), Map.entry(int.class, 0), Map.entry(double.class, 0.5),
            Map.entry(boolean.class, true), Map.entry(String.class, "text"), Map.entry(Map.class, Map.of()),
            Map.entry(Path.class, Path.of("absent")), Map.entry(DType.class, DType.FLOAT64), Map.entry(Device.class, Device.CPU),
            Map.entry(Consumer.class, (Consumer<Object>) any -> {}), Map.entry(Supplier.class, (Supplier<Tensor>) () -> tensor),
            Map.entry(UnaryOperator.class, UnaryOperator.identity()), Map.entry(BinaryOperator.class, (BinaryOperator<Object>) (a, b) -> a),
            Map.entry(ParameterGroup.class, new ParameterGroup(List.of(tensor))), Map.entry(Library.Key.class, Library.Key.CPU),
            Map.entry(Library.Kernel.class, (Library.Kernel) given -> null)).get(type);
    }

    /** Settings of another guard are unchanged. */
    @Test
    void aGuardThatIsClosedAgainRestoresNothing() {
        NoGrad first = new NoGrad();
        first.close();
        assertTrue(Torch.isGradEnabled());
        try (NoGrad second = new NoGrad()) {
            assert second != null;
            first.close();
            assertFalse(Torch.isGradEnabled());
        }
        int[] packed = {0};
        SavedTensorsHooks before = SavedTensorsHooks.of(kept -> kept, kept -> kept);
        before.close();
        try (Scope scope = new Scope(); SavedTensorsHooks hooks = SavedTensorsHooks.of(kept -> {
            packed[0]++;
            return kept;
        }, kept -> kept)) {
            assert scope != null && hooks != null;
            before.close();
            Tensor x = Torch.ones(2).requiresGrad_(true);
            x.mul(x);
        }
        assertTrue(packed[0] > 0, "the later hooks are in force");
    }
}
