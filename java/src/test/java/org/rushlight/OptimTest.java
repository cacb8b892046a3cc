package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.nn.*;
import org.rushlight.nn.Module;
import org.rushlight.optim.*;

/** Optimizers and schedules match PyTorch 2.7.1 (tests/oracle/java_optim.py). */
class OptimTest {
    private static final Path DATA = Path.of("..", "tests", "data");
    private static final double[] METRICS = {3.0, 2.0, 2.1, 2.2, 1.9999, 2.5, 2.4, 1.0, 1.5, 1.4, 1.3, 0.9};

    private static Tensor loss(Tensor w, Tensor v) {
        Tensor polynomial = w.pow(4).sub(w.mul(w).mul(3)).add(w).sum();
        return polynomial.add(v.mul(v).sum().mul(w.sum().pow(2).add(1))).sub(v.sum());
    }

    private static Tensor first() {
        return first(DType.FLOAT32);
    }

    private static Tensor second() {
        return second(DType.FLOAT32);
    }

    private static Tensor first(DType dtype) {
        return Tensor.of(0.5, -1, 2).to(dtype).requiresGrad_(true);
    }

    private static Tensor second(DType dtype) {
        return Tensor.of(new double[] {0.1, -0.2, 1.5, 0.7}, 2, 2).to(dtype).requiresGrad_(true);
    }

    private static Map<String, BiFunction<Tensor, Tensor, Optimizer>> optimizers() {
        Map<String, Function<List<Tensor>, Optimizer>> simple = new LinkedHashMap<>();
        SGD.Options sgd = new SGD.Options(0.01);
        simple.put("SGD(ps, 0.01)", ps -> new SGD(ps, 0.01));
        simple.put("SGD(ps, 0.01, momentum=0.9, weight_decay=0.1)", ps -> new SGD(ps, sgd.withMomentum(0.9).withWeightDecay(0.1)));
        simple.put("SGD(ps, 0.01, momentum=0.9, nesterov=True)", ps -> new SGD(ps, sgd.withMomentum(0.9).withNesterov(true)));
        simple.put("SGD(ps, 0.01, momentum=0.9, dampening=0.3, maximize=True)",
            ps -> new SGD(ps, sgd.withMomentum(0.9).withDampening(0.3).withMaximize(true)));
        simple.put("Adam(ps, 0.02)", ps -> new Adam(ps, 0.02));
        simple.put("Adam(ps, 0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1, amsgrad=True)", ps -> new Adam(ps,
            new Adam.Options(0.02).withBeta1(0.8).withBeta2(0.95).withEps(1e-6).withWeightDecay(0.1).withAmsgrad(true)));
        simple.put("AdamW(ps, 0.02)", ps -> new AdamW(ps, 0.02));
        simple.put("AdamW(ps, 0.02, weight_decay=0.3, amsgrad=True, maximize=True)",
            ps -> new AdamW(ps, new AdamW.Options(0.02).withWeightDecay(0.3).withAmsgrad(true).withMaximize(true)));
        simple.put("Adagrad(ps, 0.05)", ps -> new Adagrad(ps, 0.05));
        simple.put("Adagrad(ps, 0.05, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2)", ps -> new Adagrad(ps,
            new Adagrad.Options(0.05).withLrDecay(0.1).withWeightDecay(0.1).withInitialAccumulatorValue(0.2)));
        simple.put("RMSprop(ps, 0.01)", ps -> new RMSprop(ps, 0.01));
        simple.put("RMSprop(ps, 0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.1)", ps -> new RMSprop(ps,
            new RMSprop.Options(0.01).withAlpha(0.9).withMomentum(0.5).withCentered(true).withWeightDecay(0.1)));
        simple.put("LBFGS(ps, 0.1)", ps -> new LBFGS(ps, new LBFGS.Options(0.1)));
        simple.put("LBFGS(ps, 1, max_iter=4, history_size=3, line_search_fn='strong_wolfe')",
            ps -> new LBFGS(ps, new LBFGS.Options(1).withMaxIter(4).withHistorySize(3).withStrongWolfe(true)));
        Map<String, BiFunction<Tensor, Tensor, Optimizer>> all = new LinkedHashMap<>();
        simple.forEach((name, make) -> all.put(name, (w, v) -> make.apply(List.of(w, v))));
        all.put("SGD([{'params': [w], 'lr': 0.05, 'momentum': 0.5}, {'params': [v]}], 0.01)", (w, v) -> new SGD(sgd,
            new ParameterGroup(List.of(w), new SGD.Options(0.05).withMomentum(0.5)), new ParameterGroup(List.of(v))));
        return all;
    }

    @Test
    void everyOptimizerTakesTheStepsOfPyTorch() {
        List<String> wrong = new ArrayList<>();
        Leaks.none(() -> {
            Map<String, Tensor> recorded = StateDict.load(DATA.resolve("java_optim.safetensors"));
            Map<String, BiFunction<Tensor, Tensor, Optimizer>> optimizers = optimizers();
            assertEquals(optimizers.size(), recorded.keySet().stream().filter(key -> key.endsWith("|1")).count());
            optimizers.forEach((name, make) -> {
                DType dtype = recorded.get(name + "|1").dtype();
                Tensor w = first(dtype);
                Tensor v = second(dtype);
                try (Optimizer optimizer = make.apply(w, v)) {
                    for (int step = 0; step < 6; step++) {
                        optimizer.step(() -> closure(optimizer, w, v));
                        same(name + " step " + step, recorded.get(name + "|1").get(step), w, wrong);
                        same(name + " step " + step, recorded.get(name + "|2").get(step), v, wrong);
                    }
                }
            });
        });
        assertEquals("", String.join("\n", wrong));
    }

    private static Tensor closure(Optimizer optimizer, Tensor w, Tensor v) {
        optimizer.zeroGrad();
        Tensor value = loss(w, v);
        value.backward();
        return value;
    }

    private static void same(String what, Tensor expected, Tensor actual, List<String> wrong) {
        if (!Torch.isclose(expected, actual.detach(), 1e-5, 1e-6, false).all().item().booleanValue()) {
            wrong.add(what + ": " + actual.detach() + " instead of " + expected);
        }
    }

    @Test
    void everyScheduleHasTheRatesOfPyTorch() {
        Map<String, Function<Optimizer, LRScheduler>> schedules = new LinkedHashMap<>();
        schedules.put("LambdaLR(opt, lambda epoch: 0.9 ** epoch)", opt -> new LambdaLR(opt, epoch -> Math.pow(0.9, epoch)));
        schedules.put("MultiplicativeLR(opt, lambda epoch: 1 / (1 + epoch))", opt -> new MultiplicativeLR(opt, epoch -> 1.0 / (1 + epoch)));
        schedules.put("StepLR(opt, 3, 0.5)", opt -> new StepLR(opt, 3, 0.5));
        schedules.put("MultiStepLR(opt, [2, 5, 5, 9], 0.3)", opt -> new MultiStepLR(opt, 0.3, 2, 5, 5, 9));
        schedules.put("ExponentialLR(opt, 0.8)", opt -> new ExponentialLR(opt, 0.8));
        schedules.put("ConstantLR(opt, 0.25, 4)", opt -> new ConstantLR(opt, 0.25, 4));
        schedules.put("LinearLR(opt, 0.2, 0.9, 6)", opt -> new LinearLR(opt, 0.2, 0.9, 6));
        schedules.put("PolynomialLR(opt, 8, 2.0)", opt -> new PolynomialLR(opt, 8, 2));
        schedules.put("CosineAnnealingLR(opt, 5, 0.01)", opt -> new CosineAnnealingLR(opt, 5, 0.01));
        schedules.put("OneCycleLR(opt, 2.0, 13)", opt -> new OneCycleLR(opt, 2, 13));
        Map<String, ReduceLROnPlateau.Options> plateaus = Map.of(
            "ReduceLROnPlateau(opt, factor=0.5, patience=1, cooldown=1, min_lr=0.03)",
            new ReduceLROnPlateau.Options().withFactor(0.5).withPatience(1).withCooldown(1).withMinLr(0.03),
            "ReduceLROnPlateau(opt, 'max', factor=0.5, patience=0, threshold=0.3, threshold_mode='abs')",
            new ReduceLROnPlateau.Options().withMode(ReduceLROnPlateau.Mode.MAX).withFactor(0.5).withPatience(0).withThreshold(0.3)
                .withRelativeThreshold(false));
        Leaks.none(() -> {
            Map<String, Tensor> recorded = StateDict.load(DATA.resolve("java_optim.safetensors"));
            assertEquals(recorded.keySet().stream().filter(key -> !key.contains("|")).count(), schedules.size() + plateaus.size());
            schedules.forEach((name, make) -> rates(recorded.get(name), name, opt -> {
                LRScheduler schedule = make.apply(opt);
                return epoch -> schedule.step();
            }));
            plateaus.forEach((name, options) -> rates(recorded.get(name), name, opt -> {
                ReduceLROnPlateau schedule = new ReduceLROnPlateau(opt, options);
                return epoch -> schedule.step(METRICS[epoch]);
            }));
        });
    }

    private static void rates(Tensor recorded, String name, Function<Optimizer, java.util.function.IntConsumer> make) {
        SGD.Options options = new SGD.Options(1).withMomentum(0.9);
        ParameterGroup one = new ParameterGroup(List.of(first()), options.withLr(0.5));
        ParameterGroup two = new ParameterGroup(List.of(second()), options.withLr(0.1));
        try (SGD optimizer = new SGD(options, one, two)) {
            var step = make.apply(optimizer);
            List<Double> rates = new ArrayList<>();
            for (int epoch = 0; epoch <= 12; epoch++) {
                Map<String, Tensor> state = optimizer.stateDict();
                for (String key : List.of("0.lr", "1.lr", "0.momentum", "1.momentum")) {
                    rates.add(state.get("param_groups." + key).item().doubleValue());
                }
                if (epoch < 12) {
                    step.accept(epoch);
                }
            }
            assertArrayEquals(recorded.toDoubleArray(), rates.stream().mapToDouble(Double::doubleValue).toArray(), 1e-12, name);
        }
    }

    @Test
    void aPlateauGoesOnWhereItWas() {
        Leaks.none(() -> {
            ReduceLROnPlateau.Options options = new ReduceLROnPlateau.Options().withFactor(0.5).withPatience(1);
            try (SGD one = new SGD(List.of(first()), 1); SGD two = new SGD(List.of(first()), 1)) {
                ReduceLROnPlateau known = new ReduceLROnPlateau(one, options);
                known.step(1);
                known.step(2);
                ReduceLROnPlateau resumed = new ReduceLROnPlateau(two, options);
                resumed.loadStateDict(known.stateDict());
                resumed.step(2);
                assertEquals(0.5, two.parameterGroups().get(0).lr(), "the second epoch without an improvement");
                assertThrows(IllegalArgumentException.class, () -> resumed.loadStateDict(Map.of()));
            }
        });
    }

    // The four trainings of tests/oracle/same_numbers.cpp: the same losses as libtorch's.

    private static void train(String name, Optimizer optimizer, Supplier<Tensor> loss) {
        double[] expected = SameNumbersTest.recorded().get(name);
        double[] found = new double[10];
        for (int step = 0; step < 10; step++) {
            try (Scope scope = new Scope()) {
                assert scope != null;
                optimizer.zeroGrad();
                Tensor value = loss.get();
                value.backward();
                optimizer.step();
                found[step] = value.item().doubleValue();
            }
        }
        for (int step = 0; step < 10; step++) {
            assertEquals(expected[step], found[step], 1e-4 * Math.abs(expected[step]), name + ", step " + step);
        }
    }

    @Test
    void aConvolutionalNetworkLearnsAsInLibtorch() {
        Leaks.none(() -> {
            Torch.manualSeed(1);
            // gcc evaluates the arguments of nn::Sequential from the last to the first.
            Linear linear = new Linear(12 * 3 * 3, 10);
            Conv2d second = new Conv2d(new Conv2d.Options(8, 12, 3).withStride(2).withGroups(2));
            Conv2d first = new Conv2d(new Conv2d.Options(3, 8, 3).withPadding(1));
            try (Sequential net = new Sequential(first, new BatchNorm2d(8), new ReLU(), new MaxPool2d(2), second, new ReLU(),
                    new Flatten(), new Dropout(0.3), linear);
                    SGD optimizer = new SGD(net.parameters(), new SGD.Options(0.05).withMomentum(0.9).withWeightDecay(1e-3))) {
                Tensor images = Torch.randn(8, 3, 16, 16);
                Tensor classes = Torch.randint(0, 10, new long[] {8});
                train("a convolutional network, SGD", optimizer, () -> Functional.crossEntropy(net.forward(images), classes));
            }
        });
    }

    private static final class Words extends Module {
        private final Embedding embedding;
        private final Linear out;
        private final Module recurrent;

        Words(boolean withLstm, long hidden) {
            embedding = new Embedding(30, 12);
            out = new Linear(hidden, 30);
            registerModule("embedding", embedding);
            recurrent = withLstm
                ? registerModule("lstm", new LSTM(new LSTM.Options(12, hidden).withNumLayers(2).withDropout(0.2)))
                : registerModule("gru", new GRU(new GRU.Options(12, hidden / 2).withBidirectional(true)));
            registerModule("out", out);
        }

        @Override
        public Tensor forward(Tensor words) {
            return out.forward(recurrent.forward(embedding.forward(words))).reshape(-1, 30);
        }
    }

    private static void words(String name, boolean withLstm, Function<List<Tensor>, Optimizer> make) {
        Leaks.none(() -> {
            Torch.manualSeed(2);
            try (Words net = new Words(withLstm, 16); Optimizer optimizer = make.apply(net.parameters())) {
                Tensor text = Torch.randint(0, 30, new long[] {9, 4});
                Tensor next = Torch.randint(0, 30, new long[] {9, 4}).reshape(-1);
                train(name, optimizer, () -> Functional.crossEntropy(net.forward(text), next));
            }
        });
    }

    @Test
    void recurrentNetworksLearnAsInLibtorch() {
        words("an LSTM, Adam", true, parameters -> new Adam(parameters, 5e-3));
        words("a GRU, RMSprop", false, parameters -> new RMSprop(parameters, 2e-3));
    }

    @Test
    void aTransformerLearnsAsInLibtorch() {
        Leaks.none(() -> {
            Torch.manualSeed(3);
            try (Transformer net = new Transformer(new Transformer.Options(16, 4).withNumEncoderLayers(2).withNumDecoderLayers(2)
                    .withDimFeedforward(32).withDropout(0.1).withActivation(Functional::gelu)); Linear out = new Linear(16, 20)) {
                Tensor source = Torch.randn(7, 3, 16);
                Tensor target = Torch.randn(5, 3, 16);
                Tensor classes = Torch.randint(0, 20, new long[] {15});
                Transformer.Masks masks = new Transformer.Masks().withTarget(Transformer.generateSquareSubsequentMask(5));
                List<Tensor> parameters = new ArrayList<>(net.parameters());
                parameters.addAll(out.parameters());
                try (AdamW optimizer = new AdamW(parameters, 2e-3)) {
                    train("a Transformer, AdamW", optimizer,
                        () -> Functional.crossEntropy(out.forward(net.forward(source, target, masks)).reshape(-1, 20), classes));
                }
            }
        });
    }

    // State.

    @Test
    void everyStateIsSavedAndRestored(@TempDir Path folder) {
        Leaks.none(() -> optimizers().forEach((name, make) -> {
            for (String file : List.of("state.pt", "state.safetensors")) {
                Tensor w = first();
                Tensor v = second();
                Tensor w2 = first();
                Tensor v2 = second();
                try (Optimizer one = make.apply(w, v); Optimizer two = make.apply(w2, v2)) {
                    for (int i = 0; i < 3; i++) {
                        one.step(() -> closure(one, w, v));
                    }
                    one.parameterGroups().get(0).setLr(0.007);
                    one.save(folder.resolve(file));
                    two.load(folder.resolve(file));
                    try (NoGrad guard = new NoGrad()) {
                        assert guard != null;
                        w2.copy_(w);
                        v2.copy_(v);
                    }
                    for (int i = 0; i < 2; i++) {
                        one.step(() -> closure(one, w, v));
                        two.step(() -> closure(two, w2, v2));
                    }
                    assertArrayEquals(w.detach().toFloatArray(), w2.detach().toFloatArray(), name);
                    assertArrayEquals(v.detach().toFloatArray(), v2.detach().toFloatArray(), name);
                }
            }
        }));
    }

    @Test
    void theStateThatPythonSavedGoesOn() {
        Leaks.none(() -> {
            Tensor w = first();
            Tensor v = second();
            Tensor w2 = first();
            Tensor v2 = second();
            try (Adam known = new Adam(List.of(w, v), 0.02); Adam loaded = new Adam(List.of(w2, v2), 0.02)) {
                for (int i = 0; i < 6; i++) {
                    known.step(() -> closure(known, w, v));
                }
                loaded.load(DATA.resolve("java_optim.pt"));
                Map<String, Tensor> expected = known.stateDict();
                Map<String, Tensor> found = loaded.stateDict();
                assertEquals(expected.keySet(), found.keySet());
                expected.forEach((key, tensor) -> assertArrayEquals(tensor.to(DType.FLOAT64).toDoubleArray(),
                    found.get(key).to(DType.FLOAT64).toDoubleArray(), 1e-3, key));
            }
        });
    }

    @Test
    void optionsAndGroupsAreChecked() {
        Leaks.none(() -> {
            List<Tensor> ps = List.of(first(), second());
            assertEquals("Invalid learning rate: -1.0", assertThrows(TensorValueException.class, () -> new SGD(ps, -1)).getMessage());
            assertThrows(TensorValueException.class, () -> new SGD(ps, new SGD.Options(1).withNesterov(true)));
            assertThrows(TensorValueException.class, () -> new Adam(ps, new Adam.Options().withBeta2(1)));
            assertThrows(IllegalArgumentException.class, () -> new SGD(List.of(), 1));
            assertThrows(IllegalStateException.class, () -> new LBFGS(ps).step());
            Tensor twice = first();
            assertThrows(TensorValueException.class,
                () -> new SGD(new SGD.Options(1), new ParameterGroup(List.of(twice)), new ParameterGroup(List.of(twice))));
            assertThrows(IllegalArgumentException.class,
                () -> new SGD(new SGD.Options(1), new ParameterGroup(List.of(twice), new Adam.Options())));
        });
    }
}
