package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Guards are closed in reverse order and on the thread that opened them, and restore all settings. */
class GuardTest {
    private static String rejected(Runnable close) {
        return assertThrows(IllegalStateException.class, close::run).getMessage();
    }

    @Test
    void guardsAreClosedInReverseOrder() {
        NoGrad outer = new NoGrad();
        EnableGrad inner = new EnableGrad();
        assertEquals("a EnableGrad inside this NoGrad is still open", rejected(outer::close));
        assertTrue(Torch.isGradEnabled(), "nothing was changed");
        inner.close();
        assertFalse(Torch.isGradEnabled());
        SavedTensorsHooks hooks = SavedTensorsHooks.of(kept -> kept, kept -> kept);
        assertEquals("a SavedTensorsHooks inside this NoGrad is still open", rejected(outer::close));
        hooks.close();
        outer.close();
        assertTrue(Torch.isGradEnabled());
    }

    @Test
    void guardsAreClosedOnTheirThread() throws InterruptedException {
        NoGrad guard = new NoGrad();
        AtomicReference<String> message = new AtomicReference<>();
        AtomicReference<Boolean> enabled = new AtomicReference<>();
        Thread other = new Thread(() -> {
            message.set(rejected(guard::close));
            enabled.set(Torch.isGradEnabled());
        });
        other.start();
        other.join();
        assertEquals("the NoGrad belongs to thread '" + Thread.currentThread().getName() + "'", message.get());
        assertEquals(true, enabled.get());
        assertFalse(Torch.isGradEnabled());
        guard.close();
        assertTrue(Torch.isGradEnabled());
    }

    /** It is a process-wide setting: the last open guard determines it. */
    @Test
    void anomaliesAreLookedForUntilTheLastIsClosed() throws InterruptedException {
        DetectAnomaly nan = new DetectAnomaly();
        DetectAnomaly noNan = new DetectAnomaly(false);
        assertFalse(nanIsAFailure());
        Thread other = new Thread(noNan::close);
        other.start();
        other.join();
        assertTrue(nanIsAFailure());
        DetectAnomaly later = new DetectAnomaly(false);
        nan.close();
        assertFalse(nanIsAFailure());
        later.close();
        later.close();
        assertFalse(nanIsAFailure());
    }

    private static boolean nanIsAFailure() {
        try (Scope scope = new Scope()) {
            assert scope != null;
            Tensor x = Tensor.of(0f).requiresGrad_(true);
            x.mul(0).div(x).sum().backward();
            return false;
        } catch (RushlightException e) {
            return true;
        }
    }

    @Test
    void pinnedRunsItsBodyAndLeavesNoGuardOpen() {
        assertEquals("result", Torch.pinned(() -> "result"));
        assertEquals("a NoGrad inside Torch.pinned was not closed", rejected(() -> Torch.pinned((Runnable) NoGrad::new)));
        assertTrue(Torch.isGradEnabled());
        NoGrad outer = new NoGrad();
        NoGrad inner = new NoGrad();
        Torch.pinned(inner::close);
        assertFalse(Torch.isGradEnabled(), "the outer one is still open");
        outer.close();
        UnsupportedOperationException thrown = new UnsupportedOperationException("mine");
        assertEquals(thrown, assertThrows(UnsupportedOperationException.class, () -> Torch.pinned((Runnable) () -> {
            throw thrown;
        })));
    }

    /** Runs a body on a virtual thread and rethrows its exception; false if there are no virtual threads. */
    private static boolean onVirtualThread(Runnable body) throws Exception {
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            System.out.println("GuardTest: no virtual threads on JDK " + Runtime.version().feature() + ", 21 has them");
            return false;
        }
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = (Thread) start.invoke(null, (Runnable) () -> {
            try {
                body.run();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        thread.join();
        if (thrown.get() != null) {
            throw new AssertionError("on a virtual thread", thrown.get());
        }
        return true;
    }

    @Test
    void aVirtualThreadNeedsToBePinned() throws Exception {
        onVirtualThread(() -> {
            for (Supplier<AutoCloseable> guard : List.<Supplier<AutoCloseable>>of(NoGrad::new, EnableGrad::new, InferenceMode::new,
                () -> SavedTensorsHooks.of(kept -> kept, kept -> kept))) {
                String message = rejected(guard::get);
                assertTrue(message.contains("put the block into Torch.pinned"), message);
            }
            assertTrue(Torch.isGradEnabled());
            assertEquals(12, Torch.<Double>pinned(() -> {
                try (Scope scope = new Scope(); NoGrad off = new NoGrad()) {
                    assert scope != null && off != null;
                    // A thread that waits here could be moved to another carrier.
                    Thread.sleep(20);
                    assertFalse(Torch.isGradEnabled());
                    return Torch.ones(3).requiresGrad_(true).mul(4).sum().item().doubleValue();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
            assertTrue(Torch.isGradEnabled());
            assertEquals("a NoGrad inside Torch.pinned was not closed", rejected(() -> Torch.pinned((Runnable) NoGrad::new)));
            assertTrue(Torch.isGradEnabled());
            UnsupportedOperationException thrown = new UnsupportedOperationException("mine");
            assertEquals(thrown, assertThrows(UnsupportedOperationException.class, () -> Torch.pinned((Runnable) () -> {
                throw thrown;
            })));
            // Printing requires no pinned thread, and a hook runs below a native frame anyway.
            try (Tensor many = Torch.ones(2000); Tensor x = Torch.ones(1).requiresGrad_(true); Tensor y = x.mul(2)) {
                assertTrue(many.toString().contains("..."), many.toString());
                x.registerHook(grad -> {
                    try (NoGrad off = new NoGrad()) {
                        assert off != null;
                        return grad.mul(5);
                    }
                });
                y.backward();
                try (Tensor grad = x.grad()) {
                    assertEquals(10, grad.item().doubleValue());
                }
            }
        });
    }
}
