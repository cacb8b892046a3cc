package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rushlight.inference.PredictionException;
import org.rushlight.inference.PredictionTimeoutException;
import org.rushlight.inference.Predictor;
import org.rushlight.inference.PredictorMetrics;
import org.rushlight.nn.Linear;

/** Batches, limits, errors and metrics of a predictor. */
@Timeout(60)
class PredictorTest {
    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Holds the worker until the test has submitted its requests. */
    private static UnaryOperator<Tensor> gate(CountDownLatch entered, CountDownLatch leave) {
        return input -> {
            entered.countDown();
            await(leave);
            return input.mul(2);
        };
    }

    @Test
    void manyThreadsHaveTheirOwnResults() throws InterruptedException {
        Leaks.noneInTheEnd(() -> {
            Linear model = new Linear(4, 3);
            model.eval();
            AtomicInteger wrong = new AtomicInteger();
            try (model; Predictor predictor = Predictor.of(model, new Predictor.Options().withWorkers(2).withMaxBatchSize(8)
                    .withMaxDelay(Duration.ofMillis(2)))) {
                List<Thread> threads = new ArrayList<>();
                for (int t = 0; t < 6; t++) {
                    int number = t;
                    Thread thread = new Thread(() -> {
                        for (int i = 0; i < 50; i++) {
                            try (Scope scope = new Scope()) {
                                assert scope != null;
                                Tensor input = Tensor.of(number, i, 1, 0).to(DType.FLOAT32);
                                Tensor alone = model.forward(input).detach();
                                Tensor result = predictor.predict(input);
                                if (!scope.contains(result) || result.requiresGrad() || !result.allclose(alone, 1e-5, 1e-6, false)) {
                                    wrong.incrementAndGet();
                                }
                            }
                        }
                    });
                    threads.add(thread);
                    thread.start();
                }
                threads.forEach(thread -> {
                    try {
                        thread.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                PredictorMetrics metrics = predictor.metrics();
                assertEquals(0, wrong.get());
                assertEquals(300, metrics.completed());
                assertEquals(0, metrics.queueLength());
                assertEquals(300, metrics.batchSizes().entrySet().stream().mapToLong(entry -> entry.getKey() * entry.getValue()).sum());
                assertTrue(metrics.batches() < 300 && metrics.meanBatchSize() > 1, metrics.toString());
                assertTrue(metrics.p50().compareTo(metrics.p95()) <= 0 && metrics.p95().compareTo(metrics.p99()) <= 0
                    && metrics.p99().compareTo(metrics.max()) <= 0 && metrics.mean().compareTo(Duration.ZERO) > 0, metrics.toString());
            }
        });
    }

    @Test
    void aSavedModelIsServed() throws InterruptedException {
        Leaks.noneInTheEnd(() -> {
            try (ScriptModule net = ScriptModule.load(java.nio.file.Path.of("..", "tests", "data", "script", "net.pt"));
                    Predictor predictor = Predictor.of(net, new Predictor.Options().withMaxBatchSize(4))) {
                assertArrayEquals(new float[] {7, 23}, predictor.predict(Torch.ones(3)).toFloatArray());
            }
        });
    }

    /** While the only worker is busy, requests gather: equal shapes run together. */
    @Test
    void requestsOfEqualShapeRunTogether() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            Predictor predictor = Predictor.of(gate(entered, leave), new Predictor.Options().withMaxBatchSize(3));
            List<CompletableFuture<Tensor>> results = new ArrayList<>();
            results.add(predictor.submit(Tensor.of(0f)));
            await(entered);
            for (int i = 1; i <= 5; i++) {
                results.add(predictor.submit(Tensor.of((float) i)));
                results.add(predictor.submit(Torch.full(new long[] {2}, i)));
            }
            assertEquals(10, predictor.metrics().queueLength());
            leave.countDown();
            predictor.close(); // Those that wait still run.
            results.forEach(result -> assertTrue(result.isDone()));
            assertEquals(Map.of(1, 1L, 2, 2L, 3, 2L), predictor.metrics().batchSizes());
            assertEquals(11.0 / 5, predictor.metrics().meanBatchSize());
            for (int i = 0; i < results.size(); i++) {
                Tensor result = results.get(i).join();
                assertEquals(2 * ((i + 1) / 2), result.max().item().intValue());
                result.close();
            }
        });
    }

    /** A worker that is free waits for more requests until the delay is over, but no longer than the batch is full. */
    @Test
    void aBatchWaitsForRequests() throws InterruptedException {
        Leaks.noneInTheEnd(() -> {
            try (Predictor predictor = Predictor.of(Tensor::neg, new Predictor.Options().withMaxBatchSize(3).withMaxDelay(Duration.ofHours(1)))) {
                List<CompletableFuture<Tensor>> results = new ArrayList<>();
                for (float i = 0; i < 3; i++) {
                    results.add(predictor.submit(Tensor.of(i)));
                }
                results.forEach(result -> result.join().close());
                assertEquals(Map.of(3, 1L), predictor.metrics().batchSizes());
            }
            try (Predictor predictor = Predictor.of(Tensor::neg, new Predictor.Options().withMaxBatchSize(3).withMaxDelay(Duration.ofMillis(30)))) {
                assertEquals(-1, predictor.predict(Tensor.of(1f)).item().intValue());
                assertTrue(predictor.metrics().p50().compareTo(Duration.ofMillis(30)) >= 0);
            }
        });
    }

    @Test
    void aFullQueueRejectsRequests() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            try (Predictor predictor = Predictor.of(gate(entered, leave), new Predictor.Options().withQueueCapacity(2))) {
                CompletableFuture<Tensor> first = predictor.submit(Tensor.of(0f));
                await(entered);
                CompletableFuture<Tensor> second = predictor.submit(Tensor.of(1f));
                CompletableFuture<Tensor> third = predictor.submit(Tensor.of(2f));
                assertEquals("the queue of the predictor is full: 2 requests wait",
                    assertThrows(RejectedExecutionException.class, () -> predictor.submit(Tensor.of(3f))).getMessage());
                assertTrue(second.cancel(false));
                CompletableFuture<Tensor> fourth = predictor.submit(Tensor.of(4f)); // There is space again.
                leave.countDown();
                first.join().close();
                third.join().close();
                fourth.join().close();
                PredictorMetrics metrics = predictor.metrics();
                assertEquals(List.of(3L, 1L, 1L), List.of(metrics.completed(), metrics.cancelled(), metrics.rejected()));
            }
        });
    }

    @Test
    void onlyTheRequestFailsThatCausesAnError() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        IllegalArgumentException negative = new IllegalArgumentException("negative");
        Leaks.noneInTheEnd(() -> {
            UnaryOperator<Tensor> gate = gate(entered, leave);
            try (Predictor predictor = Predictor.of(input -> {
                Tensor result = gate.apply(input);
                if (result.min().item().intValue() < 0) {
                    throw negative;
                }
                return result;
            }, new Predictor.Options().withMaxBatchSize(4))) {
                CompletableFuture<Tensor> first = predictor.submit(Tensor.of(0f));
                await(entered);
                List<CompletableFuture<Tensor>> results = new ArrayList<>();
                for (float value : new float[] {1, -1, 2}) {
                    results.add(predictor.submit(Tensor.of(value)));
                }
                leave.countDown();
                first.join().close();
                assertEquals(2, take(results.get(0)));
                assertSame(negative, assertThrows(CompletionException.class, results.get(1)::join).getCause());
                assertEquals(4, take(results.get(2)));
                PredictionException thrown = assertThrows(PredictionException.class, () -> predictor.predict(Tensor.of(-3f)));
                assertSame(negative, thrown.getCause());
                assertTrue(thrown.getMessage().contains("IllegalArgumentException: negative"), thrown.getMessage());
                assertEquals(2, predictor.metrics().failed());
                assertEquals(3, predictor.metrics().completed());
                assertEquals(Map.of(1, 5L, 3, 1L), predictor.metrics().batchSizes());
            }
        });
    }

    private static int take(CompletableFuture<Tensor> future) {
        try (Tensor result = future.join()) {
            return result.item().intValue();
        }
    }

    @Test
    void errorsOfTheModelDoNotEndAWorker() throws InterruptedException {
        AtomicInteger calls = new AtomicInteger();
        Leaks.noneInTheEnd(() -> {
            try (Predictor predictor = Predictor.of(input -> {
                switch (calls.getAndIncrement()) {
                    case 0 -> throw new StackOverflowError();
                    case 1 -> throw new CancellationException("of the model");
                    case 2 -> {
                        return input.sum();
                    }
                    default -> {
                        return input;
                    }
                }
            }, new Predictor.Options())) {
                Tensor input = Tensor.of(5f);
                assertEquals(StackOverflowError.class, assertThrows(PredictionException.class, () -> predictor.predict(input)).getCause().getClass());
                assertThrows(PredictionException.class, () -> predictor.predict(input));
                String message = assertThrows(PredictionException.class, () -> predictor.predict(input)).getMessage();
                assertTrue(message.contains("the model returned a tensor of shape [] for 1 request"), message);
                assertEquals(5, predictor.predict(input).item().intValue());
                assertEquals(3, predictor.metrics().failed());
            }
        });
    }

    @Test
    void aRequestHasALimitOfTime() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            try (Predictor predictor = Predictor.of(gate(entered, leave), new Predictor.Options().withTimeout(Duration.ofMillis(50)))) {
                // The first runs, the second waits: the result of the first is freed.
                CompletableFuture<Tensor> running = predictor.submit(Tensor.of(0f));
                await(entered);
                assertEquals("the request has no result after 50 ms",
                    assertThrows(PredictionTimeoutException.class, () -> predictor.predict(Tensor.of(1f))).getMessage());
                assertSame(PredictionTimeoutException.class, assertThrows(CompletionException.class, running::join).getCause().getClass());
                assertEquals(0, predictor.metrics().queueLength());
                leave.countDown();
            }
        });
    }

    @Test
    void anInterruptEndsTheWait() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        Leaks.noneInTheEnd(() -> {
            try (Predictor predictor = Predictor.of(gate(entered, leave), new Predictor.Options())) {
                AtomicReference<Boolean> flag = new AtomicReference<>();
                Thread waiting = new Thread(() -> {
                    try (Tensor input = Tensor.of(1f)) {
                        assertThrows(CancellationException.class, () -> predictor.predict(input));
                        flag.set(Thread.currentThread().isInterrupted());
                    }
                });
                waiting.start();
                await(entered);
                waiting.interrupt();
                try {
                    waiting.join();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                assertEquals(true, flag.get());
                assertEquals(1, predictor.metrics().cancelled());
                leave.countDown();
            }
        });
    }

    @Test
    void aClosedPredictorRejectsRequests() throws InterruptedException {
        Leaks.noneInTheEnd(() -> {
            AtomicReference<Predictor> self = new AtomicReference<>();
            try (Predictor predictor = Predictor.of(input -> {
                self.get().close(); // Does not wait for itself.
                return input;
            }, new Predictor.Options().withTimeout(Duration.ofMinutes(1)))) {
                self.set(predictor);
                assertEquals(1, predictor.predict(Tensor.of(1f)).item().intValue());
                assertEquals("the predictor is closed", assertThrows(IllegalStateException.class, () -> predictor.submit(Tensor.of(1f))).getMessage());
            }
            assertEquals(1, self.get().metrics().completed());
            Tensor closed = Tensor.of(1f);
            closed.close();
            try (Predictor predictor = Predictor.of(Tensor::neg, new Predictor.Options())) {
                assertThrows(IllegalStateException.class, () -> predictor.submit(closed));
                assertEquals(0, predictor.metrics().queueLength());
                assertFalse(predictor.predict(Tensor.of(1f)).isClosed());
            }
        });
    }

    @Test
    void optionsAreChecked() {
        Predictor.Options options = new Predictor.Options();
        assertThrows(IllegalArgumentException.class, () -> options.withWorkers(0));
        assertThrows(IllegalArgumentException.class, () -> options.withMaxBatchSize(0));
        assertThrows(IllegalArgumentException.class, () -> options.withQueueCapacity(0));
        assertThrows(IllegalArgumentException.class, () -> options.withMaxDelay(Duration.ofMillis(-1)));
        assertThrows(IllegalArgumentException.class, () -> options.withTimeout(Duration.ZERO));
    }
}
