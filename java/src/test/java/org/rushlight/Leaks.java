package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}
