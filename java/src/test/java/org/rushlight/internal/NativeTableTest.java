package org.rushlight.internal;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** A library of another version is rejected: its operators have other places in the table. */
class NativeTableTest {
    private static void rejected(LongSupplier table) {
        UnsatisfiedLinkError error = assertThrows(UnsatisfiedLinkError.class, () -> NativeLibrary.check(Native.TABLE, table));
        assertTrue(error.getMessage().contains("of different versions"), error.getMessage());
    }

    @Test
    void the_same_table_is_accepted() {
        assertDoesNotThrow(() -> NativeLibrary.check(Native.TABLE, () -> Native.TABLE));
    }

    @Test
    void another_table_is_rejected() {
        rejected(() -> Native.TABLE + 1);
    }

    @Test
    void a_library_without_a_table_number_is_rejected() {
        rejected(() -> {
            throw new UnsatisfiedLinkError("long org.rushlight.internal.NativeLibrary.table()");
        });
    }
}
