package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Hooks, nodes, functions with a custom derivative, gradcheck, deterministic and anomaly mode. */
class GraphTest {
    private static Tensor leaf(double... values) {
        return Tensor.of(values).requiresGrad_(true);
    }

    @Test
    void hooksFireInPyTorchsOrder() {
        Leaks.none(() -> {
            List<String> log = new ArrayList<>();
            Tensor x = leaf(1, 2);
            Tensor y = x.mul(2);
            y.retainGrad();
            assertTrue(y.retainsGrad());
            try (Node node = y.gradNode()) {
                assertEquals("MulBackward1", node.name());
                List<Node.Edge> edges = node.nextEdges();
                assertEquals("torch::autograd::AccumulateGrad", edges.get(0).node().name());
                for (Node.Edge edge : edges) {
                    if (edge.node() != null) {
                        edge.node().close();
                    }
                }
                node.registerPrehook(grads -> {
                    log.add("prehook");
                    return new Tensor[] {grads[0].mul(10)};
                });
                node.registerHook((gave, took) -> {
                    log.add("post " + gave[0].toDoubleArray()[0] + " " + took[0].toDoubleArray()[0]);
                    return null;
                });
            }
            y.registerHook(grad -> {
                log.add("tensor");
                return grad.add(1);
            });
            x.registerHook(grad -> {
                log.add("leaf");
                return null;
            });
            Tensor.Hook landed = x.registerPostAccumulateGradHook(tensor -> log.add("landed " + tensor.grad().toDoubleArray()[0]));
            y.sum().backward();
            assertEquals(List.of("tensor", "prehook", "post 40.0 20.0", "leaf", "landed 40.0"), log);
            assertArrayEquals(new double[] {2, 2}, y.grad().toDoubleArray());
            landed.close();
            landed.close();
        });
    }

    /** A hook can be removed through its handle even if only the graph is left of its tensor and its node. */
    @Test
    void hooksAreRemovedAfterTheirTensorIsClosed() {
        Leaks.none(() -> {
            List<String> log = new ArrayList<>();
            Tensor x = leaf(1, 2);
            Tensor share = x.share();
            Tensor y = x.mul(2);
            Tensor sum = y.sum();
            List<Tensor.Hook> hooks = new ArrayList<>();
            hooks.add(x.registerHook(grad -> {
                log.add("leaf");
                return null;
            }));
            hooks.add(x.registerPostAccumulateGradHook(leaf -> log.add("landed")));
            hooks.add(y.registerHook(grad -> {
                log.add("tensor");
                return null;
            }));
            try (Node node = y.gradNode()) {
                hooks.add(node.registerPrehook(grads -> {
                    log.add("prehook");
                    return null;
                }));
                hooks.add(node.registerHook((gave, took) -> {
                    log.add("post");
                    return null;
                }));
            }
            x.close();
            y.close();
            sum.backward(null, true, false);
            assertEquals(List.of("tensor", "prehook", "post", "leaf", "landed"), log);
            hooks.forEach(Tensor.Hook::close);
            sum.backward();
            assertEquals(5, log.size());
            assertArrayEquals(new double[] {4, 4}, share.grad().toDoubleArray());
            hooks.forEach(Tensor.Hook::close);
        });
    }

    /** As in every other callback, tensors created by a hook are closed when it returns. */
    @Test
    void temporariesOfAHookAreClosed() {
        Leaks.none(() -> {
            List<Tensor> made = new ArrayList<>();
            Tensor x = leaf(1, 2);
            x.registerHook(grad -> {
                made.add(grad);
                made.add(grad.mul(2));
                made.add(made.get(1).add(1).unscoped());
                return made.get(2);
            });
            x.sum().backward();
            assertEquals(List.of(true, true, false), made.stream().map(Tensor::isClosed).toList());
            made.get(2).close();
            assertArrayEquals(new double[] {3, 3}, x.grad().toDoubleArray());
        });
    }

    static final class Power extends AutogradFunction {
        private final int exponent;
        boolean wanted;

        Power(int exponent) {
            this.exponent = exponent;
        }

        @Override
        protected Tensor[] forward(Context context, Tensor... inputs) {
            assertFalse(Torch.isGradEnabled());
            Tensor result = inputs[0].pow(exponent);
            context.saveForBackward(inputs[0], result, null);
            context.values().put("exponent", exponent);
            return new Tensor[] {result};
        }

        @Override
        protected Tensor[] backward(Context context, Tensor... grads) {
            Tensor[] saved = context.savedTensors();
            assertNull(saved[2]);
            wanted = context.needsInputGrad(0);
            int factor = (Integer) context.values().get("exponent");
            return new Tensor[] {grads[0].mul(saved[1]).div(saved[0]).mul(factor)};
        }
    }

    @Test
    void functionsWithTheirOwnDerivative() {
        Leaks.none(() -> {
            Tensor x = leaf(1, 2, 3);
            Power cube = new Power(3);
            Tensor y = cube.apply(x)[0];
            assertEquals("PowerBackward", y.gradFn());
            y.sum().backward();
            assertArrayEquals(new double[] {3, 12, 27}, x.grad().toDoubleArray());
            assertTrue(cube.wanted);
            assertThrows(RushlightException.class, () -> y.sum().backward());
            assertTrue(new Gradcheck().gradcheck(in -> new Power(2).apply(in), x));
            Tensor middle = x.mul(2);
            Tensor z = new Power(2).apply(middle)[0];
            middle.add_(1);
            RushlightException error = assertThrows(RushlightException.class, () -> z.sum().backward());
            assertTrue(error.getMessage().contains("modified by an inplace operation"), error.getMessage());
        });
    }

    /** Doubles its first input in place, returns the second one unchanged, and a mask. */
    static final class Several extends AutogradFunction {
        @Override
        protected Tensor[] forward(Context context, Tensor... inputs) {
            Tensor mask = inputs[0].gt(0);
            context.markDirty(inputs[0].mul_(2));
            context.markNonDifferentiable(mask);
            return new Tensor[] {inputs[0], inputs[1], mask};
        }

        @Override
        protected Tensor[] backward(Context context, Tensor... grads) {
            assertArrayEquals(new double[] {0, 0}, grads[1].toDoubleArray());
            return new Tensor[] {grads[0].mul(2), grads[1]};
        }
    }

    @Test
    void whatFunctionsMayDoWithTheirInputs() {
        Leaks.none(() -> {
            Tensor x = leaf(1, -1);
            Tensor y = leaf(5, 6);
            Tensor inner = x.mul(1);
            long version = inner.version();
            Tensor[] out = new Several().apply(inner, y);
            assertTrue(inner.version() > version);
            assertTrue(out[0].requiresGrad() && out[1].requiresGrad() && !out[2].requiresGrad());
            out[0].sum().backward();
            assertArrayEquals(new double[] {2, 2}, x.grad().toDoubleArray());
            RushlightException error = assertThrows(RushlightException.class, () -> out[1].mul_(2));
            assertTrue(error.getMessage().startsWith("Output 1 of SeveralBackward is a view and is being modified inplace."), error.getMessage());
            error = assertThrows(RushlightException.class, () -> new Several().apply(x, y));
            assertTrue(error.getMessage().startsWith("a leaf Variable that requires grad"), error.getMessage());
        });
    }

    /** Starts a nested backward for each level below it. */
    static final class Deep extends AutogradFunction {
        @Override
        protected Tensor[] forward(Context context, Tensor... inputs) {
            context.saveForBackward(inputs[0].detach().sub(1));
            return new Tensor[] {inputs[0].mul(1)};
        }

        @Override
        protected Tensor[] backward(Context context, Tensor... grads) {
            Tensor rest = context.savedTensors()[0].detach();
            if (rest.item().doubleValue() > 0) {
                try (EnableGrad on = new EnableGrad()) {
                    assertTrue(on != null);
                    Tensor below = rest.requiresGrad_(true);
                    new Deep().apply(below)[0].backward();
                    assertEquals(1, below.grad().item().doubleValue());
                }
            }
            return grads;
        }
    }

    @Test
    void backwardWithinBackwardDoesNotRunOutOfStack() {
        Leaks.none(() -> {
            Tensor x = leaf(400).sum().detach().requiresGrad_(true);
            new Deep().apply(x)[0].backward();
            assertEquals(1, x.grad().item().doubleValue());
        });
    }

    @Test
    void whatIsSavedMayBeKeptInAnotherForm() {
        Leaks.none(() -> {
            Tensor x = leaf(1, 2);
            Tensor loss;
            List<String> log = new ArrayList<>();
            try (SavedTensorsHooks hooks = SavedTensorsHooks.of(
                    tensor -> {
                        log.add("pack");
                        return tensor.toDoubleArray();
                    },
                    kept -> {
                        log.add("unpack");
                        return Tensor.of(kept);
                    })) {
                assertTrue(hooks != null);
                loss = x.exp().sum();
            }
            loss.backward();
            assertEquals(List.of("pack", "unpack"), log);
            assertArrayEquals(new double[] {Math.E, Math.E * Math.E}, x.grad().toDoubleArray(), 1e-12);
            try (SavedTensorsHooks hooks = SavedTensorsHooks.of(tensor -> tensor, kept -> kept)) {
                assertTrue(hooks != null);
                loss = x.exp().sum();
            }
            loss.backward();
            ArithmeticException own = new ArithmeticException("mine");
            try (SavedTensorsHooks hooks = SavedTensorsHooks.of(tensor -> {
                throw own;
            }, kept -> null)) {
                assertTrue(hooks != null);
                assertSame(own, assertThrows(ArithmeticException.class, x::exp));
            }
        });
    }

    @Test
    void gradcheckNamesWhatIsWrong() {
        Leaks.none(() -> {
            Tensor x = leaf(0.5, 1.5);
            assertTrue(new Gradcheck().gradcheck(in -> new Tensor[] {in[0].sin(), in[0].mul(2)}, x));
            assertTrue(new Gradcheck().fastMode(true).gradgradcheck(in -> new Tensor[] {in[0].sin()}, List.of(x), null));
            // The second factor is detached.
            RushlightException error = assertThrows(
                RushlightException.class, () -> new Gradcheck().gradcheck(in -> new Tensor[] {in[0].mul(in[0].detach())}, x));
            assertTrue(error.getMessage().startsWith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:"), error.getMessage());
            assertFalse(new Gradcheck().raiseException(false).gradcheck(in -> new Tensor[] {in[0].mul(in[0].detach())}, x));
            assertTrue(new Gradcheck().atol(10).gradcheck(in -> new Tensor[] {in[0].mul(in[0].detach())}, x));
        });
    }

    @Test
    void deterministicModeFillsWhatNobodyHasWritten() {
        assertFalse(Torch.areDeterministicAlgorithmsEnabled());
        Torch.useDeterministicAlgorithms(true, true);
        try {
            assertTrue(Torch.isDeterministicAlgorithmsWarnOnlyEnabled());
            Leaks.none(() -> {
                assertTrue(Float.isNaN(Torch.empty(3).toFloatArray()[2]));
                assertArrayEquals(new long[] {Long.MAX_VALUE}, Tensor.of(1L).newEmpty(1).toLongArray());
            });
            Torch.setFillUninitializedMemory(false);
            assertFalse(Torch.isFillUninitializedMemory());
        } finally {
            Torch.setFillUninitializedMemory(true);
            Torch.useDeterministicAlgorithms(false);
        }
        assertFalse(Torch.areDeterministicAlgorithmsEnabled());
    }

    @Test
    void anomaliesNameTheForwardCall() {
        Leaks.none(() -> {
            try (DetectAnomaly guard = new DetectAnomaly()) {
                assertTrue(guard != null);
                Tensor x = leaf(-1);
                Tensor y = x.sqrt().sum();
                RushlightException error = assertThrows(RushlightException.class, y::backward);
                assertTrue(error.getMessage().startsWith("Function 'SqrtBackward0' returned nan values in its 0th output."), error.getMessage());
                assertTrue(error.getMessage().contains("recorded by call "), error.getMessage());
                try (DetectAnomaly loose = new DetectAnomaly(false)) {
                    assertTrue(loose != null);
                    x.sqrt().sum().backward();
                }
            }
        });
    }

    @Test
    void inferenceTensorsStayOutOfAutograd() {
        Leaks.none(() -> {
            Tensor made;
            try (InferenceMode mode = new InferenceMode()) {
                assertTrue(mode != null);
                made = Torch.ones(2);
                made.add_(1);
            }
            assertTrue(made.isInference());
            RushlightException error = assertThrows(RushlightException.class, () -> made.add_(1));
            assertTrue(error.getMessage().startsWith("Inplace update to inference tensor outside InferenceMode"), error.getMessage());
        });
    }
}
