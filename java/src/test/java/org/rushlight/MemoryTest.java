package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The memory of closed tensors is cached up to the limit, and released on demand. */
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
        Torch.zeros(16 * SIZE).close();
        long before = Torch.memoryStats().peak();
        Torch.resetPeakMemory();
        long after = Torch.memoryStats().peak();
        assertTrue(after <= before - 64L * SIZE, "the tensor of 64 MiB counts no more: " + before + ", then " + after);
    }

    /** Several threads create tensors faster than one cleaner frees them, so they wait for it. */
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
        // A pressure of 64 MiB corresponds to 131072 handles; a collection may be slightly delayed.
        assertTrue(most > 50_000 && most < each, most + " live handles");
        Leaks.collect(before);
    }

    /** Creates unclosed tensors of a GiB, more than fit in memory. */
    static final class Forgetful {
        private Forgetful() {}

        /** Prints the number of tensors. */
        public static void main(String[] arguments) {
            int made = 0;
            for (int i = 0; i < 20; i++) {
                made += Torch.empty(1L << 28).numel() > 0 ? 1 : 0;
            }
            System.out.println("made " + made);
        }
    }

    /** Unreferenced tensors are collected before an out-of-memory error is reported. */
    @Test
    void theCollectorRunsBeforeMemoryIsOut() throws Exception {
        String never = "-Drushlight.pressure=" + (1L << 50);
        List<String> limit = List.of("bash", "-c", "ulimit -v 8000000; exec \"$@\"", "bash");
        assertEquals(new Jvm.Ended(0, "made 20"), Jvm.await(Jvm.of(limit, Forgetful.class, "-Xmx64m", never)));
        Jvm.Ended ended = Jvm.await(Jvm.of(limit, Forgetful.class, "-Xmx64m", never, "-XX:+DisableExplicitGC"));
        assertTrue(ended.output().contains("OutOfNativeMemoryException: not enough memory"), ended.output());
        assertTrue(ended.output().contains("the JVM ignores System.gc() (-XX:+DisableExplicitGC?)"), ended.output());
    }

    /** Creates 64 MiB of unclosed temporaries. */
    static final class Careless {
        private Careless() {}

        /** Prints a line at its end. */
        public static void main(String[] arguments) {
            for (int i = 0; i < 64; i++) {
                Torch.ones(1L << 18);
            }
            System.out.println("ended");
        }
    }

    @Test
    void whoLooksForLeaksHearsOnceThatTheCollectorIsSwitchedOff() throws Exception {
        String[] ignored = {"-Drushlight.pressure=4194304", "-XX:+DisableExplicitGC"};
        assertEquals(new Jvm.Ended(0, "ended"), Jvm.await(Jvm.of(List.of(), Careless.class, ignored)));
        Jvm.Ended told = Jvm.await(Jvm.of(List.of(), Careless.class, ignored[0], ignored[1], "-Drushlight.leaks=true"));
        assertEquals(2, told.output().split("the JVM ignores System.gc", -1).length, told.output());
    }

    @Test
    void aNegativeLimitIsAnError() {
        RushlightException error = assertThrows(TensorValueException.class, () -> Torch.setCacheLimit(-1));
        assertTrue(error.getMessage().contains("a limit of -1 bytes is not possible"), error.getMessage());
    }
}
