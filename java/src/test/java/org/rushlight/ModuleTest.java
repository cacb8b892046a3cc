package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rushlight.nn.BatchNorm1d;
import org.rushlight.nn.Linear;
import org.rushlight.nn.Module;
import org.rushlight.nn.ModuleDict;
import org.rushlight.nn.ModuleList;
import org.rushlight.nn.ParameterDict;
import org.rushlight.nn.ParameterList;
import org.rushlight.nn.ReLU;
import org.rushlight.nn.Sequential;
import org.rushlight.optim.SGD;

/** Registration in modules, and its checks. */
class ModuleTest {
    /** A module whose registration methods the test can call. */
    private static final class Open extends Module {
        Tensor parameter(String name, Tensor tensor) {
            return registerParameter(name, tensor);
        }

        Tensor parameter(String name, Tensor tensor, boolean requiresGrad) {
            return registerParameter(name, tensor, requiresGrad);
        }

        Tensor buffer(String name, Tensor tensor) {
            return registerBuffer(name, tensor);
        }

        <M extends Module> M add(String name, M module) {
            return registerModule(name, module);
        }

        <M extends Module> M replace(String name, M module) {
            return replaceModule(name, module);
        }

        Module remove(String name) {
            return unregisterModule(name);
        }
    }

    @Test
    void whatIsSharedIsListedOnceAndSavedUnderEachName() {
        Leaks.none(() -> {
            try (Open model = new Open()) {
                Linear tied = model.add("one", new Linear(2, 2));
                model.add("two", tied);
                model.parameter("own", tied.weight());
                model.parameter("again", tied.bias().share());
                assertEquals(List.of("own", "again"), List.copyOf(model.namedParameters().keySet()));
                assertEquals(List.of("", "one"), List.copyOf(model.namedModules().keySet()));
                assertEquals(List.of("one", "two"), List.copyOf(model.namedChildren().keySet()));
                assertEquals(List.of("own", "again", "one.weight", "one.bias", "two.weight", "two.bias"), List.copyOf(model.stateDict().keySet()));
                model.loadStateDict(model.stateDict());
                model.to(DType.FLOAT64);
                assertEquals(DType.FLOAT64, tied.weight().dtype());
                try (SGD sgd = new SGD(model.parameters(), 0.1)) {
                    assertEquals(2, sgd.parameters().size());
                }
            }
        });
    }

    @Test
    void aModuleIsNeverWithinItself() {
        Leaks.none(() -> {
            try (Open outer = new Open(); Open inner = new Open()) {
                outer.add("inner", inner);
                assertEquals("the module 'self' is the Open that it shall be part of",
                    assertThrows(IllegalArgumentException.class, () -> outer.add("self", outer)).getMessage());
                assertEquals("the module 'loop' contains the Open that it shall be part of",
                    assertThrows(IllegalArgumentException.class, () -> inner.add("loop", outer)).getMessage());
                assertThrows(IllegalArgumentException.class, () -> outer.replace("inner", outer));
                assertEquals(2, outer.modules().size());
            }
        });
    }

    @Test
    void nothingIsRegisteredInPlaceOfNull() {
        Leaks.none(() -> {
            try (Open model = new Open()) {
                assertEquals("the module 'a' is null", assertThrows(NullPointerException.class, () -> model.add("a", null)).getMessage());
                assertEquals("the parameter 'b' is null", assertThrows(NullPointerException.class, () -> model.parameter("b", null)).getMessage());
                assertEquals("the buffer 'c' is null", assertThrows(NullPointerException.class, () -> model.buffer("c", null)).getMessage());
                assertThrows(RushlightException.class, () -> model.parameter("whole", Tensor.of(1L)));
                assertEquals(0, model.stateDict().size());
            }
        });
    }

    @Test
    void parametersMayBeFrozen() {
        Leaks.none(() -> {
            try (Open model = new Open()) {
                assertFalse(model.parameter("frozen", Torch.ones(2), false).requiresGrad());
                assertTrue(model.parameter("trained", Torch.ones(2)).requiresGrad());
                // Integers cannot be trained, but may be parameters.
                model.parameter("whole", Tensor.of(1L), false);
                assertEquals(3, model.parameters().size());
            }
        });
    }

    @Test
    void modulesAreReplacedAndTakenOut() {
        Leaks.none(() -> {
            try (Open model = new Open(); Linear first = new Linear(2, 2)) {
                model.add("layer", first);
                model.add("last", new ReLU());
                Linear second = model.replace("layer", new Linear(2, 3));
                assertSame(second, model.namedChildren().get("layer"));
                assertEquals(List.of("layer", "last"), List.copyOf(model.namedChildren().keySet()));
                assertFalse(first.weight().isClosed());
                try (Module taken = model.remove("layer")) {
                    assertSame(second, taken);
                }
                assertEquals("no module with the name 'layer' is registered in Open",
                    assertThrows(IllegalArgumentException.class, () -> model.remove("layer")).getMessage());
                assertThrows(IllegalArgumentException.class, () -> model.replace("other", new ReLU()));
                assertEquals(List.of("last"), List.copyOf(model.namedChildren().keySet()));
            }
        });
    }

    @Test
    void aCopyHasValuesModesAndDtypesOfItsOwn() {
        Leaks.none(() -> {
            try (Sequential model = new Sequential(new Linear(2, 2), new BatchNorm1d(2)); Sequential twin = new Sequential(new Linear(2, 2), new BatchNorm1d(2));
                    Sequential wide = new Sequential(new Linear(3, 2), new BatchNorm1d(2)); Sequential other = new Sequential(new Linear(2, 2), new ReLU())) {
                model.get(1).eval();
                model.get(0).requiresGrad(false);
                model.to(DType.FLOAT64);
                assertSame(twin, model.copyTo(twin));
                assertEquals(model.stateDict().toString(), twin.stateDict().toString());
                assertEquals(DType.FLOAT64, twin.parameters().get(0).dtype());
                assertFalse(twin.parameters().get(0).requiresGrad());
                assertTrue(twin.parameters().get(2).requiresGrad());
                assertFalse(twin.get(1).isTraining());
                assertTrue(twin.isTraining());
                twin.parameters().get(0).add_(1);
                assertEquals(1, twin.parameters().get(0).sub(model.parameters().get(0)).min().item().doubleValue(), 1e-12);
                assertEquals("cannot copy a Sequential to a module that differs: it has a shape of '0.weight' [2, 2], the other [2, 3]",
                    assertThrows(IllegalArgumentException.class, () -> model.copyTo(wide)).getMessage());
                assertThrows(IllegalArgumentException.class, () -> model.copyTo(other));
                assertEquals(DType.FLOAT32, wide.parameters().get(0).dtype());
            }
        });
    }

    @Test
    void containersAreWalkedThrough() {
        Leaks.none(() -> {
            List<Module> layers = List.of(new Linear(2, 2), new ReLU());
            try (Sequential sequence = new Sequential().extend(layers); ModuleList list = new ModuleList().extend(layers)) {
                List<Module> found = new ArrayList<>();
                sequence.forEach(found::add);
                assertEquals(layers, found);
                assertSame(layers.get(1), list.get(-1));
                assertEquals("index 2 is out of range for the Sequential of size 2",
                    assertThrows(IndexOutOfBoundsException.class, () -> sequence.get(2)).getMessage());
                assertThrows(IndexOutOfBoundsException.class, () -> list.get(-3));
            }
            try (ParameterList list = new ParameterList(Torch.ones(1), Torch.ones(2))) {
                // The same module a second time has a separate index.
                list.append(list.get(0));
                List<Long> sizes = new ArrayList<>();
                list.forEach(tensor -> sizes.add(tensor.size(0)));
                assertEquals(List.of(1L, 2L, 1L), sizes);
                assertEquals(3, list.size());
                assertThrows(IndexOutOfBoundsException.class, () -> list.get(3));
            }
        });
    }

    @Test
    void dictionariesGiveTheirNamesAndTakeThemBack() {
        Leaks.none(() -> {
            try (ModuleDict dict = new ModuleDict().put("one", new Linear(2, 2)).put("two", new ReLU())) {
                assertEquals(List.of("one", "two"), List.copyOf(dict.keys()));
                assertEquals(2, dict.values().size());
                List<String> names = new ArrayList<>();
                dict.forEach(entry -> names.add(entry.getKey() + " " + entry.getValue().getClass().getSimpleName()));
                assertEquals(List.of("one Linear", "two ReLU"), names);
                dict.remove("one").close();
                assertFalse(dict.contains("one"));
                assertThrows(IllegalArgumentException.class, () -> dict.remove("one"));
            }
            try (ParameterDict dict = new ParameterDict().put("one", Torch.ones(1)).put("two", Torch.ones(2))) {
                assertEquals(List.of("one", "two"), List.copyOf(dict.keys()));
                assertEquals(2, dict.values().size());
                dict.iterator().forEachRemaining(entry -> assertTrue(entry.getValue().requiresGrad(), entry.getKey()));
                dict.remove("one").close();
                assertFalse(dict.contains("one"));
                assertEquals("no parameter with the name 'one' is registered in ParameterDict",
                    assertThrows(IllegalArgumentException.class, () -> dict.remove("one")).getMessage());
                assertEquals(1, dict.size());
            }
        });
    }

    @Test
    void theOwnParametersAreThoseOfNoOther() {
        Leaks.none(() -> {
            try (Open model = new Open()) {
                model.add("layer", new Linear(2, 2));
                model.parameter("scale", Torch.ones(1));
                model.buffer("mean", Torch.ones(1));
                assertEquals(List.of("scale"), List.copyOf(model.namedParameters(false).keySet()));
                assertEquals(1, model.parameters(false).size());
                assertEquals(3, model.parameters(true).size());
                assertEquals(List.of("mean"), List.copyOf(model.namedBuffers(false).keySet()));
                assertEquals(1, model.buffers(false).size());
            }
        });
    }

    @Test
    void settersReturnTheModule() {
        Leaks.none(() -> {
            try (Linear layer = new Linear(2, 1)) {
                assertSame(layer, layer.to(DType.FLOAT64).to(Device.CPU).eval().train().train(false).zeroGrad().requiresGrad(false).apply(module -> {}));
                assertEquals(DType.FLOAT64, layer.weight().dtype());
                assertFalse(layer.isTraining());
                assertFalse(layer.weight().requiresGrad());
            }
        });
    }
}
