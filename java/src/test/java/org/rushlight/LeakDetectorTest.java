package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
        return Arrays.stream(origin.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals("forget"));
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
            assertTrue(origin != null && namesThis(origin), "the tensor that was not closed is heard of");
            assertEquals(List.of(), List.copyOf(leaked), "the one that was closed is not");
            assertEquals(0, LeakDetector.open().stream().filter(LeakDetectorTest::namesThis).count());
        } finally {
            LeakDetector.stop();
        }
        assertEquals(List.of(), LeakDetector.open().stream().filter(LeakDetectorTest::namesThis).toList());
    }
}
