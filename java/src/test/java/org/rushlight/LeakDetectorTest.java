package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LeakDetectorTest {
    private static void forget() {
        Torch.ones(3).add(1).close();
    }

    private static boolean namesThis(Throwable origin) {
        return isMadeBy("forget", origin);
    }

    /** A scope left open on a long-lived thread holds all tensors created there. */
    @Test
    void aForgottenScopeTellsWhereItWasOpened() {
        LeakDetector.start(origin -> {});
        Scope outer = new Scope();
        Scope forgotten = forgetScope();
        try {
            List<Throwable> open = LeakDetector.open().stream().filter(origin -> origin.getMessage().startsWith("a scope")).toList();
            assertEquals(2, open.size());
            assertEquals("a scope that was opened here (thread '" + Thread.currentThread().getName() + "')", open.get(0).getMessage());
            assertEquals(1, open.stream().filter(origin -> isMadeBy("forgetScope", origin)).count());
            Throwable cause = assertThrows(IllegalStateException.class, outer::close).getCause();
            assertTrue(isMadeBy("forgetScope", cause), "the exception names the inner scope");
        } finally {
            forgotten.close();
            outer.close();
            LeakDetector.stop();
        }
        assertEquals(List.of(), LeakDetector.open().stream().filter(origin -> origin.getMessage().startsWith("a scope")).toList());
    }

    private static Scope forgetScope() {
        return new Scope();
    }

    private static boolean isMadeBy(String method, Throwable origin) {
        return Arrays.stream(origin.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals(method));
    }

    @Test
    void aForgottenTensorTellsWhereItWasMade() throws InterruptedException {
        LinkedBlockingQueue<Throwable> leaked = new LinkedBlockingQueue<>();
        LeakDetector.start(leaked::add);
        try {
            forget();
            assertEquals(1, LeakDetector.open().stream().filter(LeakDetectorTest::namesThis).count());
            Throwable origin = null;
            for (int i = 0; i < 100 && origin == null; i++) {
                System.gc();
                origin = leaked.poll(50, TimeUnit.MILLISECONDS);
            }
            assertTrue(origin != null && namesThis(origin), "the tensor that was not closed is reported");
            assertEquals(List.of(), List.copyOf(leaked), "the one that was closed is not");
            assertEquals(0, LeakDetector.open().stream().filter(LeakDetectorTest::namesThis).count());
        } finally {
            LeakDetector.stop();
        }
        assertEquals(List.of(), LeakDetector.open().stream().filter(LeakDetectorTest::namesThis).toList());
    }
}
