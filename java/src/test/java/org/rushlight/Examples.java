package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.function.Supplier;

/** Compares what an example returns with what the documentation says. */
final class Examples {
    private Examples() {}

    @SuppressWarnings("try") // the scope is there to close what the example makes
    static void check(Supplier<Tensor> call, Supplier<Tensor> documented) {
        try (Scope scope = new Scope()) {
            Tensor actual = call.get().contiguous();
            Tensor expected = documented.get();
            assertEquals(expected.dtype(), actual.dtype());
            assertArrayEquals(expected.shape(), actual.shape());
            switch (expected.dtype()) {
                case BOOL -> assertArrayEquals(expected.toBooleanArray(), actual.toBooleanArray());
                case INT64 -> assertArrayEquals(expected.toLongArray(), actual.toLongArray());
                case FLOAT32 -> assertArrayEquals(expected.toFloatArray(), actual.toFloatArray());
                default -> fail("no literal has the dtype " + expected.dtype());
            }
        }
    }
}
