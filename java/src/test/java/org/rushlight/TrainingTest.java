package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.nn.Dropout;
import org.rushlight.nn.Functional;
import org.rushlight.nn.Linear;
import org.rushlight.nn.Module;
import org.rushlight.nn.ReLU;
import org.rushlight.nn.Sequential;
import org.rushlight.optim.Adam;
import org.rushlight.optim.Optimizer;
import org.rushlight.optim.SGD;

class TrainingTest {
    /** A model as users write them. */
    static final class Net extends Module {
        private final Linear fc1 = registerModule("fc1", new Linear(2, 16));
        private final Linear fc2 = registerModule("fc2", new Linear(16, 2));

        @Override
        public Tensor forward(Tensor input) {
            return fc2.forward(fc1.forward(input).relu());
        }
    }

    private static final float[][] XOR = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};

    private static double train(Module model, Optimizer optimizer, int steps) {
        double last = Double.NaN;
        for (int step = 0; step < steps; step++) {
            try (Scope scope = new Scope()) {
                assert scope != null;
                Tensor loss = Functional.crossEntropy(model.forward(Tensor.of(XOR)), Tensor.of(0L, 1L, 1L, 0L));
                optimizer.zeroGrad();
                loss.backward();
                optimizer.step();
                last = loss.item().doubleValue();
            }
        }
        return last;
    }

    private static void learns(Function<List<Tensor>, Optimizer> make) {
        Leaks.none(() -> {
            Torch.manualSeed(1);
            try (Net net = new Net(); Optimizer optimizer = make.apply(net.parameters())) {
                double loss = train(net, optimizer, 400);
                assertTrue(loss < 0.05, "loss " + loss);
                long live = Leaks.live();
                train(net, optimizer, 3);
                assertEquals(live, Leaks.live(), "a training step leaves nothing behind");
                net.eval();
                long[] classes = net.forward(Tensor.of(XOR)).argmax(1L).toLongArray();
                assertArrayEquals(new long[] {0, 1, 1, 0}, classes);
            }
        });
    }

    @Test
    void sgdLearnsXor() {
        learns(parameters -> new SGD(parameters, new SGD.Options(0.5).withMomentum(0.9)));
    }

    @Test
    void plainSgdDoesWhatTheFormulaSays() {
        Leaks.none(() -> {
            Tensor w = Tensor.of(1f, 2f).requiresGrad_(true);
            try (SGD sgd = new SGD(List.of(w), 0.1)) {
                w.mul(w).sum().backward();
                sgd.step();
                assertArrayEquals(new float[] {0.8f, 1.6f}, w.detach().toFloatArray(), 1e-6f);
            }
        });
    }

    @Test
    void momentumStartsWithTheGradient() {
        Leaks.none(() -> {
            Tensor w = Tensor.of(1f).requiresGrad_(true);
            Tensor late = Tensor.of(1f).requiresGrad_(true);
            try (SGD sgd = new SGD(List.of(w, late), new SGD.Options(0.1).withMomentum(0.5))) {
                w.sum().backward();
                sgd.step();
                w.add(late).sum().backward();
                sgd.step();
                // w: g = 1, b = 1; then g = 2, b = 0.5 + 2. late: g = 1, b = 1, though the other is at its second step.
                assertEquals(1 - 0.1 - 0.25, w.detach().item().doubleValue(), 1e-6);
                assertEquals(0.9, late.detach().item().doubleValue(), 1e-6);
            }
        });
    }

    @Test
    void adamLearnsXor() {
        learns(parameters -> new Adam(parameters, 0.05));
    }

    @Test
    void adamStateIsSavedAndRestored() {
        Leaks.none(() -> {
            Torch.manualSeed(3);
            try (Net a = new Net(); Net b = new Net(); Adam first = new Adam(a.parameters(), 0.05);
                    Adam second = new Adam(b.parameters(), 0.05)) {
                train(a, first, 5);
                b.loadStateDict(a.stateDict());
                second.loadStateDict(first.stateDict());
                assertEquals(train(a, first, 5), train(b, second, 5));
                assertThrows(IllegalArgumentException.class, () -> second.loadStateDict(Map.of("9.step", Torch.ones(1))));
            }
        });
    }

    @Test
    void modulesNameTheirParametersAndPrintThemselves() {
        Leaks.none(() -> {
            try (Sequential model = new Sequential(new Linear(4, 3), new ReLU(), new Dropout(0.2), new Linear(3, 2, false))) {
                assertEquals(List.of("0.weight", "0.bias", "3.weight"), List.copyOf(model.namedParameters().keySet()));
                assertEquals(List.of("", "0", "1", "2", "3"), List.copyOf(model.namedModules().keySet()));
                assertEquals(
                    "Sequential(\n"
                        + "  (0): Linear(in_features=4, out_features=3, bias=True)\n"
                        + "  (1): ReLU()\n"
                        + "  (2): Dropout(p=0.2, inplace=False)\n"
                        + "  (3): Linear(in_features=3, out_features=2, bias=False)\n"
                        + ")",
                    model.toString());
                assertTrue(model.isTraining());
                model.eval();
                assertTrue(model.modules().stream().noneMatch(Module::isTraining));
            }
        });
    }

    @Test
    void dropoutScalesWhatItKeeps() {
        Leaks.none(() -> {
            Torch.manualSeed(0);
            try (Dropout dropout = new Dropout(0.5)) {
                Tensor ones = Torch.ones(1000);
                float[] dropped = dropout.forward(ones).toFloatArray();
                int kept = 0;
                for (float value : dropped) {
                    assertTrue(value == 0 || value == 2, "value " + value);
                    kept += value == 2 ? 1 : 0;
                }
                assertTrue(kept > 400 && kept < 600, kept + " kept");
                dropout.eval();
                assertArrayEquals(ones.toFloatArray(), dropout.forward(ones).toFloatArray());
            }
            assertThrows(TensorValueException.class, () -> new Dropout(1.5));
        });
    }

    @Test
    void modelsAreSavedAndLoaded(@TempDir Path folder) {
        Leaks.none(() -> {
            for (String name : List.of("model.pt", "model.safetensors")) {
                try (Net saved = new Net(); Net loaded = new Net()) {
                    Path file = folder.resolve(name);
                    saved.save(file);
                    loaded.load(file);
                    assertArrayEquals(saved.fc1.weight().detach().toFloatArray(), loaded.fc1.weight().detach().toFloatArray());
                    assertTrue(loaded.fc1.weight().requiresGrad());
                }
            }
            assertThrows(RushlightIOException.class, () -> StateDict.load(folder.resolve("absent.pt")));
        });
    }

    @Test
    void aStateDictThatDoesNotFitSaysWhy() {
        Leaks.none(() -> {
            try (Linear linear = new Linear(2, 3)) {
                Map<String, Tensor> state = new LinkedHashMap<>();
                state.put("weight", Torch.zeros(3, 4));
                state.put("extra", Torch.zeros(1));
                RushlightException error = assertThrows(RushlightException.class, () -> linear.loadStateDict(state));
                assertTrue(error.getMessage().contains("Unexpected key(s) in state_dict: \"extra\""), error.getMessage());
                assertTrue(error.getMessage().contains("Missing key(s) in state_dict: \"bias\""), error.getMessage());
                assertTrue(error.getMessage().contains("size mismatch for weight"), error.getMessage());
            }
        });
    }
}
