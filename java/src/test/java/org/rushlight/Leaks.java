package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Counts native handles: a test that closes what it makes leaves as many as it found. */
final class Leaks {
    private Leaks() {}

    static long live() {
        return Torch.memoryStats().liveHandles();
    }

    /** Runs {@code body} in a scope, and expects no handle more than before. */
    static void none(Runnable body) {
        long before = live();
        try (Scope scope = new Scope()) {
            assert scope != null;
            body.run();
        }
        assertEquals(before, live(), "native handles left over");
    }

    /** Like {@link #none}, but what other threads still hold may be freed a little later. */
    static void noneInTheEnd(Runnable body) throws InterruptedException {
        long before = live();
        try (Scope scope = new Scope()) {
            assert scope != null;
            body.run();
        }
        for (int attempt = 0; attempt < 200 && live() != before; attempt++) {
            Thread.sleep(10);
        }
        assertEquals(before, live(), "native handles left over");
    }

    /** Waits until the collector has found what nobody closed: at most {@code expected} handles are left. */
    static void collect(long expected) {
        for (int attempt = 0; attempt < 250 && live() > expected; attempt++) {
            System.gc();
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        long left = live();
        assertTrue(left <= expected, left + " native handles left over, not " + expected);
    }
}
