package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ScopeTest {
    @Test
    void aScopeFreesWhatWasMadeInIt() {
        long before = Leaks.live();
        Tensor inside;
        Tensor kept;
        Tensor free;
        try (Scope outer = new Scope()) {
            try (Scope inner = new Scope()) {
                inside = Torch.ones(3).add(1);
                kept = inner.keep(inside.mul(2));
                free = inside.mul(3).unscoped();
            }
            assertTrue(inside.isClosed());
            assertEquals(12, kept.sum().item().doubleValue());
            assertEquals(kept, outer.keep(kept));
            assertFalse(kept.isClosed());
        }
        assertFalse(kept.isClosed(), "kept in the outermost scope: owned by nobody");
        assertEquals(18, closing(free.sum()));
        kept.close();
        free.close();
        assertEquals(before, Leaks.live());
    }

    private static double closing(Tensor tensor) {
        try (tensor) {
            return tensor.item().doubleValue();
        }
    }

    @Test
    void closingTwiceAndInAnyOrderIsAllowed() {
        Leaks.none(() -> {
            Tensor a = Torch.ones(1);
            Tensor b = Torch.ones(1);
            Tensor c = Torch.ones(1);
            b.close();
            b.close();
            a.close();
            assertFalse(c.isClosed());
        });
    }

    @Test
    void scopesCloseInReverseOrder() {
        try (Scope outer = new Scope()) {
            Scope inner = new Scope();
            assertThrows(IllegalStateException.class, outer::close);
            inner.close();
            inner.close();
            assertThrows(IllegalStateException.class, () -> inner.keep(Torch.ones(1)));
        }
    }

    @Test
    void aScopeBelongsToItsThread() throws InterruptedException {
        try (Scope scope = new Scope()) {
            AtomicReference<Tensor> elsewhere = new AtomicReference<>();
            AtomicReference<Throwable> rejected = new AtomicReference<>();
            AutoCloseable closing = scope;
            Thread thread = new Thread(() -> {
                elsewhere.set(Torch.ones(1));
                rejected.set(assertThrows(IllegalStateException.class, closing::close));
            });
            thread.start();
            thread.join();
            assertTrue(rejected.get().getMessage().contains("belongs to thread"));
            try (Tensor made = elsewhere.get()) {
                assertFalse(made.isClosed(), "made on a thread without a scope");
            }
        }
    }

    @Test
    void aClosedTensorThrowsAndIsNamed() {
        Tensor closed = Torch.ones(2).named("fc1.weight");
        closed.close();
        IllegalStateException error = assertThrows(IllegalStateException.class, () -> closed.add(1));
        assertEquals("Tensor 'fc1.weight' is closed", error.getMessage());
        try (Tensor open = Torch.ones(2)) {
            assertThrows(IllegalStateException.class, () -> open.add(closed));
            assertThrows(IllegalStateException.class, () -> Torch.cat(open, closed));
            // The failed calls have released the open tensor: closing it frees it at once.
        }
    }

    @Test
    void closingDuringACallOfAnotherThreadIsSafe() throws InterruptedException {
        long before = Leaks.live();
        for (int round = 0; round < 200; round++) {
            Tensor shared = Torch.ones(64, 64);
            CountDownLatch start = new CountDownLatch(1);
            AtomicReference<Throwable> unexpected = new AtomicReference<>();
            Thread user = new Thread(() -> {
                start.countDown();
                try {
                    while (true) {
                        try (Tensor product = shared.mm(shared)) {
                            assertEquals(64.0f, product.get(0, 0).item().doubleValue());
                        }
                    }
                } catch (IllegalStateException expected) {
                    // Closed during the call.
                } catch (Throwable e) {
                    unexpected.set(e);
                }
            });
            user.start();
            start.await();
            shared.close();
            user.join();
            assertEquals(null, unexpected.get());
        }
        Leaks.collect(before);
    }

    @Test
    void theCleanerFreesWhatEscapes() {
        long before = Leaks.live();
        for (int i = 0; i < 1000; i++) {
            Torch.ones(16).add(1);
        }
        assertTrue(Leaks.live() >= before);
        Leaks.collect(before);
    }

    @Test
    void nativeBytesAloneMakeTheCollectorRun() {
        long before = Leaks.live();
        // 400 unclosed tensors of 4 MB: 1.6 GB, while the wrappers take almost no space on the Java heap.
        for (int i = 0; i < 400; i++) {
            Torch.zeros(1 << 20);
        }
        long allocated = Torch.memoryStats().allocated();
        assertTrue(allocated < 800L << 20, allocated + " bytes in use");
        Leaks.collect(before);
    }

    @Test
    void manySmallTensorsMakeTheCollectorRun() {
        long before = Leaks.live();
        long most = 0;
        for (int i = 0; i < 800_000; i++) {
            Torch.empty(1);
            if (i % 10_000 == 0) {
                most = Math.max(most, Leaks.live());
            }
        }
        assertTrue(most < 650_000, most + " handles at once");
        Leaks.collect(before);
    }

    private static void onAnotherThread(Runnable body) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (thrown.get() != null) {
            throw new AssertionError(thrown.get());
        }
    }

    /** Work that moves from thread to thread frees its tensors in the end. */
    @Test
    void aDetachedScopeIsEnteredOnSeveralThreads() {
        Leaks.none(() -> {
            Tensor[] made = new Tensor[4];
            Scope detached = Scope.detached();
            made[0] = Torch.ones(1);
            assertFalse(detached.contains(made[0]));
            for (int i = 1; i < 3; i++) {
                int at = i;
                onAnotherThread(() -> {
                    try (Scope.Entered here = detached.enter(); Scope inner = new Scope()) {
                        assert here != null;
                        made[at] = inner.keep(Torch.ones(2));
                        assertTrue(detached.contains(made[at]));
                    }
                    try (Tensor outside = Torch.ones(1)) {
                        assertFalse(detached.contains(outside));
                    }
                });
            }
            try (Scope.Entered here = detached.enter()) {
                assert here != null;
                made[3] = detached.keep(made[1].add(1));
                made[2].close();
                onAnotherThread(detached::close);
                detached.close();
                made[0] = Torch.ones(1);
                assertFalse(made[0].isClosed() || made[1].isClosed(), "a thread is inside");
                assertThrows(IllegalStateException.class, detached::enter);
            }
            assertTrue(made[0].isClosed(), "the last thread has left");
            assertTrue(made[1].isClosed());
            assertFalse(made[3].isClosed());
            made[3].close();
            assertEquals("the scope is closed", assertThrows(IllegalStateException.class, detached::enter).getMessage());
        });
    }

    @Test
    void manyThreadsAreInADetachedScopeAtOnce() throws InterruptedException {
        long before = Leaks.live();
        Queue<Tensor> open = new ConcurrentLinkedQueue<>();
        try (Scope detached = Scope.detached()) {
            Thread[] threads = new Thread[4];
            for (int t = 0; t < threads.length; t++) {
                threads[t] = new Thread(() -> {
                    try (Scope.Entered here = detached.enter()) {
                        assert here != null;
                        for (int i = 0; i < 2000; i++) {
                            Tensor kept = Torch.ones(1);
                            if (i % 2 == 0) {
                                kept.close();
                            } else {
                                open.add(kept);
                            }
                        }
                    }
                });
                threads[t].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(4000, open.size());
            assertTrue(open.stream().allMatch(tensor -> detached.contains(tensor) && !tensor.isClosed()), "the scope holds what is open");
        }
        assertTrue(open.stream().allMatch(Tensor::isClosed));
        assertTrue(Leaks.live() <= before);
    }

    @Test
    void scopesInsideOfADetachedOneEndWithIt() {
        Leaks.none(() -> {
            try (Scope detached = Scope.detached()) {
                Scope.Entered here = detached.enter();
                Scope forgotten = new Scope();
                Tensor lost = Torch.ones(1);
                onAnotherThread(() -> assertThrows(IllegalStateException.class, here::close));
                here.close();
                here.close();
                assertEquals("the scope was still open when its thread left a detached scope",
                    assertThrows(IllegalStateException.class, forgotten::close).getMessage());
                lost.close();
                try (Tensor outside = Torch.ones(1)) {
                    assertFalse(detached.contains(outside));
                }
            }
            try (Scope ordinary = new Scope()) {
                assertEquals("only a detached scope can be entered", assertThrows(IllegalStateException.class, ordinary::enter).getMessage());
            }
        });
    }
}
