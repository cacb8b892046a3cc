package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Cancel tokens end the calls of the threads that have entered them, and no others. */
class CancelTokenTest {
    @Test
    @SuppressWarnings("try")
    void aTokenThatIsClosedStaysInEffectUntilItsScopeEnds() {
        try (Tensor a = Torch.ones(2); CancelToken token = new CancelToken()) {
            try (CancelScope scope = new CancelScope(token)) {
                a.neg().close();
                token.close();
                assertThrows(IllegalStateException.class, token::cancel);
            }
            a.neg().close();
        }
    }

    @Test
    void aTokenCancelsTheCallsOfItsThreadOnly() throws Exception {
        try (Tensor a = Torch.ones(2); CancelToken token = new CancelToken()) {
            try (CancelScope scope = new CancelScope(token)) {
                token.cancel();
                assertThrows(CancelledException.class, a::neg);
                onNewThread(() -> a.neg().close());
                assertThrows(IllegalStateException.class, () -> onNewThread(scope::close));
            }
            assertTrue(token.isCancelled());
            a.neg().close();
        }
    }

    /** Runs the body on a new thread and throws what it throws. */
    private static void onNewThread(Runnable body) throws Exception {
        FutureTask<Void> task = new FutureTask<>(body, null);
        new Thread(task).start();
        try {
            task.get();
        } catch (ExecutionException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    @Test
    @SuppressWarnings("try")
    void aDeadlineEndsARunningOperator() {
        try (Tensor large = Torch.zeros(6000, 6000); CancelToken token = new CancelToken().withTimeout(Duration.ofMillis(20));
                CancelScope scope = new CancelScope(token)) {
            CancelledException thrown = assertThrows(CancelledException.class, () -> large.mm(large));
            assertTrue(thrown.getMessage().startsWith("the deadline of the operation has passed"), thrown.getMessage());
        }
        assertThrows(IllegalArgumentException.class, () -> new CancelToken().withTimeout(Duration.ofMillis(-1)));
    }

    @Test
    @SuppressWarnings("try")
    void aDeadlineIsRemoved() {
        try (Tensor a = Torch.ones(2); CancelToken token = new CancelToken(); CancelScope scope = new CancelScope(token)) {
            token.withTimeout(Duration.ZERO);
            assertTrue(token.isCancelled());
            assertThrows(CancelledException.class, () -> a.add(1));
            assertSame(token, token.clearTimeout());
            assertFalse(token.isCancelled());
            try (Tensor sum = a.add(1)) {
                assertArrayEquals(new float[] {2, 2}, sum.toFloatArray());
            }
            token.cancel();
            assertTrue(token.clearTimeout().isCancelled(), "it is cancelled for good");
        }
    }

    @Test
    @SuppressWarnings("try")
    void anInterruptEndsARunningOperator() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            try (Tensor large = Torch.zeros(6000, 6000); CancelScope scope = CancelScope.onInterrupt()) {
                begun.countDown();
                assertThrows(CancelledException.class, () -> {
                    while (true) {
                        large.mm(large).close();
                    }
                });
            }
            Torch.ones(2).close();
            return Thread.currentThread().isInterrupted();
        });
        Thread thread = new Thread(task);
        thread.start();
        assertTrue(begun.await(1, TimeUnit.MINUTES));
        thread.interrupt();
        assertTrue(task.get(1, TimeUnit.MINUTES), "the thread stays interrupted");
    }

    @Test
    @SuppressWarnings("try")
    void anInterruptEndsNestedScopesAndNoOtherThread() throws Exception {
        try (Tensor a = Torch.ones(2); CancelScope outer = CancelScope.onInterrupt()) {
            try (CancelScope inner = CancelScope.onInterrupt()) {
                onNewThread(() -> {
                    Thread.currentThread().interrupt();
                    a.neg().close();
                });
                a.neg().close();
                Thread.currentThread().interrupt();
                assertThrows(CancelledException.class, () -> {
                    while (true) {
                        a.neg().close();
                    }
                });
            }
            assertThrows(CancelledException.class, a::neg);
            assertTrue(Thread.interrupted());
        }
        Torch.ones(2).close();
        Leaks.none(() -> CancelScope.onInterrupt().close());
    }
}
