package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.rushlight.optim.*;

/** The state of an optimizer is restored completely, and an incompatible state is rejected as a whole. */
class OptimStateTest {
    private static Tensor weight() {
        return Tensor.of(1f, 2f).requiresGrad_(true);
    }

    private static void step(Optimizer optimizer, Tensor w) {
        optimizer.step(() -> {
            optimizer.zeroGrad();
            Tensor loss = w.mul(w).sum();
            loss.backward();
            return loss;
        });
    }

    private static Map<String, String> strings(Optimizer optimizer) {
        Map<String, String> strings = new TreeMap<>();
        optimizer.stateDict().forEach((name, tensor) -> strings.put(name, tensor.toString()));
        return strings;
    }

    /** Every option differs from its default, so that each has to be restored; no optimizer may omit one of its fields.
     * */
    @Test
    void everyOptionComesBack() throws Exception {
        Tensor[] parameters = {weight(), weight()};
        Map<Optimizer, Optimizer> pairs = new LinkedHashMap<>();
        List<List<Tensor>> of = List.of(List.of(parameters[0]), List.of(parameters[1]));
        pairs.put(new SGD(of.get(0), new SGD.Options(0.5).withMomentum(0.9).withWeightDecay(0.1).withNesterov(true).withMaximize(true)),
            new SGD(of.get(1), new SGD.Options(0.1).withMomentum(0.1).withDampening(0)));
        pairs.put(new Adam(of.get(0), new Adam.Options(0.5).withBeta1(0.7).withBeta2(0.8).withEps(0.1).withWeightDecay(0.2).withAmsgrad(true)
            .withMaximize(true)), new Adam(of.get(1)));
        pairs.put(new AdamW(of.get(0), new AdamW.Options(0.5).withBeta1(0.7).withBeta2(0.8).withEps(0.1).withWeightDecay(0.2).withAmsgrad(true)
            .withMaximize(true)), new AdamW(of.get(1)));
        pairs.put(new Adagrad(of.get(0), new Adagrad.Options(0.5).withLrDecay(0.1).withWeightDecay(0.2).withInitialAccumulatorValue(0.3)
            .withEps(0.4).withMaximize(true)), new Adagrad(of.get(1)));
        pairs.put(new RMSprop(of.get(0), new RMSprop.Options(0.5).withAlpha(0.1).withEps(0.2).withWeightDecay(0.3).withMomentum(0.4)
            .withCentered(true).withMaximize(true)), new RMSprop(of.get(1)));
        pairs.put(new LBFGS(of.get(0), new LBFGS.Options(0.5).withMaxIter(3).withMaxEval(7).withToleranceGrad(0.1).withToleranceChange(0.2)
            .withHistorySize(4).withStrongWolfe(true)), new LBFGS(of.get(1)));
        Leaks.none(() -> pairs.forEach((saved, fresh) -> {
            String name = saved.getClass().getSimpleName();
            // The fields of the options are all that has to be saved.
            long fields = countFields(saved.parameterGroups().get(0).options().getClass());
            Map<String, Tensor> state = saved.stateDict();
            assertEquals(fields, state.size(), name + " saves " + state.keySet());
            fresh.loadStateDict(state);
            assertEquals(strings(saved), strings(fresh), name);
            saved.close();
            fresh.close();
        }));
        parameters[0].close();
        parameters[1].close();
    }

    private static long countFields(Class<?> type) {
        return type == Object.class ? 0 : type.getDeclaredFields().length + countFields(type.getSuperclass());
    }

    @Test
    void anOptimizerLoadsItsOwnState() {
        Leaks.none(() -> {
            Tensor w = weight();
            try (Adam adam = new Adam(List.of(w))) {
                step(adam, w);
                Map<String, String> before = strings(adam);
                adam.loadStateDict(adam.stateDict());
                assertEquals(before, strings(adam));
                assertTrue(before.containsKey("state.0.exp_avg"), before.toString());
            }
        });
    }

    @Test
    void aStateThatDoesNotFitChangesNothing() {
        Leaks.none(() -> {
            Tensor w = weight();
            Tensor v = weight();
            Tensor closed = Torch.ones(2);
            closed.close();
            ParameterGroup first = new ParameterGroup(List.of(w), new SGD.Options(0.1).withMomentum(0.5));
            try (SGD sgd = new SGD(new SGD.Options(0.2).withMomentum(0.9), first, new ParameterGroup(List.of(v)))) {
                step(sgd, w);
                Map<String, String> before = strings(sgd);
                BiConsumer<String, Map<String, Tensor>> rejects = (why, changes) -> {
                    Map<String, Tensor> state = new LinkedHashMap<>(sgd.stateDict());
                    state.replaceAll((name, tensor) -> tensor.mul(0.5));
                    changes.forEach((name, tensor) -> {
                        if (tensor == null) {
                            state.remove(name);
                        } else {
                            state.put(name, tensor);
                        }
                    });
                    String text = assertThrows(IllegalArgumentException.class, () -> sgd.loadStateDict(state)).getMessage();
                    assertEquals("cannot load the state of SGD: " + why, text);
                    assertEquals(before, strings(sgd));
                };
                rejects.accept("'state.0.momentum_buffer' has the shape [5], and must have [2] for parameter 0 of shape [2]",
                    Map.of("state.0.momentum_buffer", Torch.ones(5)));
                rejects.accept("parameter 0 has no state 'momentum_bufer', but [momentum_buffer]", Map.of("state.0.momentum_bufer", Torch.ones(2)));
                rejects.accept("'state.2.momentum_buffer' belongs to parameter 2, but there are 2", Map.of("state.2.momentum_buffer", Torch.ones(2)));
                rejects.accept("'9.step' is neither state.NUMBER.NAME nor param_groups.NUMBER.NAME", Map.of("9.step", Torch.ones(1)));
                rejects.accept("it has a different number of parameter groups than the 2 of the optimizer",
                    Map.of("param_groups.2.lr", Torch.ones(1)));
                rejects.accept("parameter group 1: unknown options [speed]", Map.of("param_groups.1.speed", Torch.ones(1)));
                rejects.accept("parameter group 1: Invalid learning rate: -1.0", Map.of("param_groups.1.lr", Torch.ones(1).neg()));
                rejects.accept("'param_groups.1.lr' is not a number, but a tensor of shape [2]", Map.of("param_groups.1.lr", Torch.ones(2)));
                Map<String, Tensor> lacking = new LinkedHashMap<>();
                sgd.stateDict().keySet().stream().filter(key -> key.startsWith("param_groups.1")).forEach(key -> lacking.put(key, null));
                rejects.accept("it has a different number of parameter groups than the 2 of the optimizer", lacking);
                assertThrows(IllegalStateException.class, () -> sgd.loadStateDict(Map.of("state.0.momentum_buffer", closed)));
                Map<String, Tensor> absent = new LinkedHashMap<>();
                absent.put("state.0.momentum_buffer", null);
                assertEquals("cannot load the state of SGD: 'state.0.momentum_buffer' is null",
                    assertThrows(IllegalArgumentException.class, () -> sgd.loadStateDict(absent)).getMessage());
                assertEquals(before, strings(sgd));
            }
        });
    }

    @Test
    void aHistoryThatIsHalfThereIsSaid() {
        Leaks.none(() -> {
            Tensor w = weight();
            try (LBFGS lbfgs = new LBFGS(List.of(w), new LBFGS.Options(0.1).withMaxIter(3))) {
                step(lbfgs, w);
                Map<String, Tensor> state = new LinkedHashMap<>(lbfgs.stateDict());
                long rows = state.remove("state.0.old_stps").size(0);
                lbfgs.loadStateDict(state);
                assertEquals("the state of LBFGS was loaded with " + rows + " old_dirs and 0 old_stps: they belong together",
                    assertThrows(IllegalStateException.class, () -> step(lbfgs, w)).getMessage());
            }
        });
    }

    @Test
    void momentsTakeTheDtypeOfTheParameter() {
        Leaks.none(() -> {
            Tensor w = weight();
            Tensor wide = Tensor.of(1.0, 2.0).requiresGrad_(true);
            try (Adam saved = new Adam(List.of(w)); Adam loaded = new Adam(List.of(wide))) {
                step(saved, w);
                loaded.loadStateDict(saved.stateDict());
                assertEquals(DType.FLOAT64, loaded.stateDict().get("state.0.exp_avg").dtype());
                assertEquals(DType.FLOAT32, loaded.stateDict().get("state.0.step").dtype());
                step(loaded, wide);
            }
        });
    }

    /** A custom optimizer, with an option and a state. */
    private static final class Averaged extends Optimizer {
        static final class Options extends OptimizerOptions<Options> {
            double share = 0.5;

            Options(double lr) {
                super(lr);
            }

            @Override
            protected void exchange(Values values) {
                share = values.of("share", share);
            }
        }

        private final String name;

        Averaged(List<Tensor> parameters, String name) {
            super(new Options(0.1), new ParameterGroup(parameters));
            this.name = name;
        }

        @Override
        protected Map<String, StateKind> stateKinds(int index, Tensor parameter) {
            return Map.of("mean", StateKind.like(parameter));
        }

        @Override
        protected void update(OptimizerOptions<?> options, List<Integer> which, Tensor[] values, Tensor[] grads) {
            for (int i = 0; i < values.length; i++) {
                Tensor mean = zeros(which.get(i), name, values[i]);
                mean.lerp_(grads[i], ((Options) options).share);
                values[i].sub_(mean, options.lr());
            }
        }
    }

    @Test
    void anOptimizerOfOnesOwnSavesWhatItNames() {
        Leaks.none(() -> {
            Tensor w = weight();
            try (Averaged saved = new Averaged(List.of(w), "mean"); Averaged loaded = new Averaged(List.of(w), "mean")) {
                step(saved, w);
                loaded.loadStateDict(saved.stateDict());
                assertEquals(List.of("state.0.mean", "param_groups.0.lr", "param_groups.0.share"), List.copyOf(loaded.stateDict().keySet()));
            }
            try (Averaged wrong = new Averaged(List.of(w), "deviation")) {
                assertEquals("Averaged has no state 'deviation': stateKinds must name it",
                    assertThrows(IllegalArgumentException.class, () -> step(wrong, w)).getMessage());
            }
        });
    }

    @Test
    void aScheduleThatThrowsChangesNothing() {
        Leaks.none(() -> {
            ParameterGroup one = new ParameterGroup(List.of(weight()));
            ParameterGroup two = new ParameterGroup(List.of(weight()));
            try (SGD sgd = new SGD(new SGD.Options(0.8), one, two)) {
                int[] asked = {0};
                LambdaLR schedule = new LambdaLR(sgd, epoch -> {
                    if (asked[0]++ == 3) {
                        throw new IllegalStateException("no rate");
                    }
                    return 1.0 / (epoch + 1);
                });
                assertThrows(IllegalStateException.class, schedule::step);
                assertEquals(0, schedule.lastEpoch());
                assertArrayEquals(new double[] {0.8, 0.8}, schedule.lastLr());
                schedule.step();
                assertArrayEquals(new double[] {0.4, 0.4}, schedule.lastLr());
            }
        });
    }

    /** Two objects may refer to one tensor, which is still updated once. */
    @Test
    void aParameterIsTrainedOnce() {
        Leaks.none(() -> {
            Tensor w = weight();
            Supplier<Tensor> again = w::share;
            assertEquals("parameter 1 of the group appears twice: a step would change it twice",
                assertThrows(TensorValueException.class, () -> new SGD(List.of(w, w), 0.1)).getMessage());
            assertThrows(TensorValueException.class, () -> new SGD(List.of(w, again.get()), 0.1));
            try (SGD sgd = new SGD(List.of(w), 0.1)) {
                assertEquals("some parameters appear in more than one parameter group: parameter 1 of the new group",
                    assertThrows(TensorValueException.class, () -> sgd.addParameterGroup(new ParameterGroup(List.of(weight(), again.get()))))
                        .getMessage());
                assertEquals(1, sgd.parameters().size());
                step(sgd, w);
                assertArrayEquals(new float[] {0.8f, 1.6f}, w.detach().toFloatArray(), 1e-6f);
            }
        });
    }
}
