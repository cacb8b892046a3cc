package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

    @Test
    void aNegativeLimitIsAnError() {
        RushlightException error = assertThrows(TensorValueException.class, () -> Torch.setCacheLimit(-1));
        assertTrue(error.getMessage().contains("a limit of -1 bytes is not possible"), error.getMessage());
    }
}
