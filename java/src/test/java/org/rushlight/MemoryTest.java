package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The memory of closed tensors is kept up to the limit, and given back on demand. */
class MemoryTest {
    private static final int SIZE = 1 << 20;

    @AfterEach
    void restore() {
        Torch.setCacheLimit(1L << 30);
    }

    private static void makeAndClose() {
        try (Tensor tensor = Torch.zeros(SIZE)) {
            assertEquals(SIZE, tensor.numel());
        }
    }

    @Test
    void closedTensorsAreKeptUntilTrimmed() {
        Torch.setCacheLimit(64L << 20);
        makeAndClose();
        MemoryStats kept = Torch.memoryStats();
        assertTrue(kept.reserved() >= kept.allocated() + 4L * SIZE, kept.toString());
        Torch.trimMemory();
        MemoryStats trimmed = Torch.memoryStats();
        assertTrue(trimmed.reserved() < kept.reserved(), trimmed.toString());
    }

    @Test
    void thePeakStartsAgain() {
        makeAndClose();
        long before = Torch.memoryStats().peak();
        Torch.resetPeakMemory();
        assertTrue(Torch.memoryStats().peak() <= before);
    }

    /** Several threads make tensors faster than one cleaner frees them: they wait for it. */
    @Test
    void temporariesOfManyThreadsAreBounded() throws InterruptedException {
        int each = 500_000;
        long before = Leaks.live();
        long most = 0;
        try (Tensor one = Torch.ones(1)) {
            List<Thread> threads = Stream.generate(() -> new Thread(() -> {
                for (int i = 0; i < each; i++) {
                    one.add(one);
                }
            })).limit(4).toList();
            threads.forEach(Thread::start);
            while (threads.stream().anyMatch(Thread::isAlive)) {
                most = Math.max(most, Leaks.live());
                Thread.sleep(1);
            }
        }
        // A pressure of 64 MiB is that of 131072 handles; a collection may come a little late.
        assertTrue(most > 50_000 && most < each, most + " live handles");
        Leaks.collect(before);
    }

    @Test
    void aNegativeLimitIsAnError() {
        RushlightException error = assertThrows(TensorValueException.class, () -> Torch.setCacheLimit(-1));
        assertTrue(error.getMessage().contains("a limit of -1 bytes is not possible"), error.getMessage());
    }
}
