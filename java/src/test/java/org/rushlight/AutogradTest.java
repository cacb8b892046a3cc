package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class AutogradTest {
    @Test
    void backwardFillsTheGradientsOfLeaves() {
        Leaks.none(() -> {
            Tensor w = Tensor.of(1f, 2f, 3f).requiresGrad_(true);
            assertNull(w.grad());
            Tensor loss = w.mul(w).sum();
            assertEquals("SumBackward0", loss.gradFn());
            assertFalse(loss.isLeaf());
            loss.backward();
            assertArrayEquals(new float[] {2, 4, 6}, w.grad().toFloatArray());
            w.sum().backward();
            assertArrayEquals(new float[] {3, 5, 7}, w.grad().toFloatArray());
            w.setGrad(null);
            assertNull(w.grad());
            assertThrows(RushlightException.class, () -> w.mul(2).backward());
            w.mul(2).backward(Tensor.of(1f, 0f, 1f));
            assertArrayEquals(new float[] {2, 0, 2}, w.grad().toFloatArray());
        });
    }

    @Test
    void gradsOfGrads() {
        Leaks.none(() -> {
            Tensor x = Tensor.of(3.0).requiresGrad_(true);
            Tensor y = x.mul(x).mul(x).sum();
            Tensor first = Torch.grad(List.of(y), List.of(x), null, false, true, false)[0];
            assertEquals(27, first.item().doubleValue());
            Tensor second = Torch.grad(first.sum(), x)[0];
            assertEquals(18, second.item().doubleValue());
            assertNull(x.grad());
            Tensor other = Tensor.of(1.0).requiresGrad_(true);
            Tensor z = x.mul(2).sum();
            assertNull(Torch.grad(List.of(z), List.of(other), null, true, false, true)[0]);
            assertThrows(RushlightException.class, () -> Torch.grad(z, other));
        });
    }

    /** A function whose forward the test supplies. */
    private static final class Returns extends AutogradFunction {
        private final Tensor[] outputs;

        Returns(Tensor... outputs) {
            this.outputs = outputs;
        }

        @Override
        protected Tensor[] forward(Context context, Tensor... inputs) {
            return outputs;
        }

        @Override
        protected Tensor[] backward(Context context, Tensor... grads) {
            return grads;
        }
    }

    @Test
    void nullInPlaceOfATensorIsNamed() {
        Leaks.none(() -> {
            Tensor x = Torch.ones(2).requiresGrad_(true);
            assertEquals("the forward of Returns returned null",
                assertThrows(NullPointerException.class, () -> new Returns((Tensor[]) null).apply(x)).getMessage());
            assertEquals("the forward of Returns returned null as output 1",
                assertThrows(NullPointerException.class, () -> new Returns(Torch.ones(2), null).apply(x)).getMessage());
            assertEquals("tensor 1 of 2 is null", assertThrows(NullPointerException.class, () -> Torch.cat(x, null)).getMessage());
            assertTrue(Torch.isGradEnabled());
        });
    }

    @Test
    void guardsSwitchRecordingOff() {
        Leaks.none(() -> {
            Tensor w = Tensor.of(1f).requiresGrad_(true);
            assertTrue(Torch.isGradEnabled());
            try (NoGrad outer = new NoGrad(); NoGrad inner = new NoGrad()) {
                assertTrue(outer != inner);
                assertFalse(Torch.isGradEnabled());
                assertFalse(w.mul(2).requiresGrad());
            }
            assertTrue(w.mul(2).requiresGrad());
            try (InferenceMode mode = new InferenceMode()) {
                assertTrue(mode != null && !w.mul(2).requiresGrad());
            }
            assertTrue(Torch.isGradEnabled());
        });
    }

    @Test
    void hooksSeeAndReplaceGradients() {
        Leaks.none(() -> {
            Tensor w = Tensor.of(1f, 2f).requiresGrad_(true);
            Tensor.Hook hook = w.registerHook(grad -> grad.mul(10));
            w.sum().backward();
            assertArrayEquals(new float[] {10, 10}, w.grad().toFloatArray());
            hook.close();
            w.sum().backward();
            assertArrayEquals(new float[] {11, 11}, w.grad().toFloatArray());
            Tensor seen = Torch.zeros(2);
            try (Tensor.Hook watch = w.registerHook(grad -> {
                seen.copy_(grad);
                return null;
            })) {
                assertTrue(watch != null);
                w.mul(3).sum().backward();
            }
            assertArrayEquals(new float[] {3, 3}, seen.toFloatArray());
        });
    }

    @Test
    void anExceptionInAHookComesOutOfBackwardItself() {
        Leaks.none(() -> {
            Tensor w = Tensor.of(1f).requiresGrad_(true);
            ArithmeticException own = new ArithmeticException("mine");
            try (Tensor.Hook hook = w.registerHook(grad -> {
                throw own;
            })) {
                assertTrue(hook != null);
                assertSame(own, assertThrows(ArithmeticException.class, () -> w.sum().backward()));
            }
            w.sum().backward();
            assertEquals(1, w.grad().item().doubleValue());
        });
    }

    @Test
    void writingInPlaceIntoWhatBackwardNeedsIsRefused() {
        Leaks.none(() -> {
            Tensor w = Tensor.of(1f, 2f).requiresGrad_(true);
            assertThrows(RushlightException.class, () -> w.add_(1));
            Tensor a = w.mul(2);
            Tensor loss = a.mul(a).sum();
            a.add_(1);
            RushlightException error = assertThrows(RushlightException.class, loss::backward);
            assertTrue(error.getMessage().contains("modified by an inplace operation"), error.getMessage());
        });
    }
}
