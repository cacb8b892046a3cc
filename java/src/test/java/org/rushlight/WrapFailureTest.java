package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The Java heap ends while the results of an operator are wrapped: no handle is lost. */
class WrapFailureTest {
    @Test
    void noHandleIsLostWhenTheHeapEnds() throws Exception {
        Jvm.Ended ended = Jvm.await(Jvm.of(List.of(), Unbinds.class, "-Xmx32m", "-XX:+UseSerialGC"));
        assertEquals("true true", ended.output());
        assertEquals(0, ended.status());
    }

    /** The program. */
    static final class Unbinds {
        private Unbinds() {}

        /** Prints whether the heap ended, and whether the handles are freed afterwards. */
        public static void main(String[] arguments) {
            boolean failed = false;
            Tensor all = Torch.ones(1_000_000);
            long before = Leaks.live();
            for (int round = 0; round < 4; round++) {
                try {
                    Tensor[] parts = all.unbind();
                    failed = parts.length == 0;
                } catch (OutOfMemoryError e) {
                    failed = true;
                }
            }
            boolean freed = false;
            for (int attempt = 0; attempt < 500 && !freed; attempt++) {
                System.gc();
                freed = Leaks.live() <= before;
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            System.out.println(failed + " " + freed);
        }
    }
}
