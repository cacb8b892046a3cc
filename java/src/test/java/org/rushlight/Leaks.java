package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Counts native handles: a test that closes its objects leaves the count unchanged. */
final class Leaks {
    private Leaks() {}

    static long live() {
        return Torch.memoryStats().liveHandles();
    }

    /**
     * Runs {@code body} in a scope, and checks that it leaves no additional handle. There may be fewer: the cleaner frees what
     * earlier tests have left to the garbage collector.
     */
    static void none(Runnable body) {
        long before = live();
        try (Scope scope = new Scope()) {
            assert scope != null;
            body.run();
        }
        check(before);
    }

    /** Like {@link #none}, but other threads may create and free handles for a little while. */
    static void noneInTheEnd(Runnable body) throws InterruptedException {
        long before = live();
        try (Scope scope = new Scope()) {
            assert scope != null;
            body.run();
        }
        for (int attempt = 0, settled = 0; attempt < 200 && settled < 5; attempt++) {
            settled = live() > before ? 0 : settled + 1;
            Thread.sleep(10);
        }
        check(before);
    }

    private static void check(long expected) {
        long left = live();
        assertTrue(left <= expected, left + " native handles left over, not " + expected);
    }

    /** Waits until the garbage collector has found unclosed objects: at most {@code expected} handles are left. */
    static void collect(long expected) {
        for (int attempt = 0; attempt < 250 && live() > expected; attempt++) {
            System.gc();
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        check(expected);
    }
}
