package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Indexing with entries of every kind. Expected values are Python's results for the index in the comment. */
class IndexTest {
    private static Tensor cube() {
        return Torch.arange(24).view(2, 3, 4);
    }

    @Test
    void masksAndPositionsStandBesideSlices() {
        Leaks.none(() -> {
            Tensor x = Torch.arange(12).view(3, 4);
            Tensor mask = Tensor.of(true, false, true);
            // x[mask, 1:3], x[[2, 0]], x[:, [3, 0]], x[[2, 0], [1, 3]], x[x > 9], x[1, [0, 2]]
            assertArrayEquals(new long[] {1, 2, 9, 10}, x.get(Index.at(mask), Index.slice(1, 3)).toLongArray());
            assertArrayEquals(new long[] {8, 9, 10, 11, 0, 1, 2, 3}, x.get(Index.at(Tensor.of(2L, 0L))).toLongArray());
            assertArrayEquals(new long[] {3, 0, 7, 4, 11, 8}, x.get(Index.ALL, Index.at(Tensor.of(3L, 0L))).toLongArray());
            assertArrayEquals(new long[] {9, 3}, x.get(Index.at(Tensor.of(2L, 0L)), Index.at(Tensor.of(1L, 3L))).toLongArray());
            assertArrayEquals(new long[] {10, 11}, x.get(Index.at(x.gt(9))).toLongArray());
            assertArrayEquals(new long[] {4, 6}, x.get(Index.at(1), Index.at(Tensor.of(0L, 2L))).toLongArray());
            // x[..., [1]], x[torch.tensor(1)] is a view
            assertArrayEquals(new long[] {1, 5, 9}, x.get(Index.ELLIPSIS, Index.at(Tensor.of(1L))).toLongArray());
            assertTrue(x.get(Index.at(Tensor.scalar(1))).isAliasOf(x));
        });
    }

    @Test
    void aMaskOfTwoDimensionsStandsForBoth() {
        Leaks.none(() -> {
            Tensor mask = Tensor.of(new boolean[][] {{true, false, true}, {false, true, false}});
            // x[mask], x[mask, [0, 1, 2]]; numpy's x[mask, 1:3]
            assertArrayEquals(new long[] {3, 4}, cube().get(Index.at(mask)).shape());
            assertArrayEquals(new long[] {0, 9, 18}, cube().get(Index.at(mask), Index.at(Tensor.of(0L, 1L, 2L))).toLongArray());
            assertArrayEquals(new long[] {1, 2, 9, 10, 17, 18}, cube().get(Index.at(mask), Index.slice(1, 3)).toLongArray());
        });
    }

    @Test
    void aTruthValueIsEverythingOrNothing() {
        Leaks.none(() -> {
            // x[True], x[False], x[:, True]
            assertArrayEquals(new long[] {1, 2, 3, 4}, cube().get(Index.at(true)).shape());
            assertArrayEquals(new long[] {0, 2, 3, 4}, cube().get(Index.at(false)).shape());
            assertArrayEquals(new long[] {2, 1, 3, 4}, cube().get(Index.ALL, Index.at(true)).shape());
            assertArrayEquals(new long[] {0, 2, 3, 4}, cube().get(Index.at(Tensor.scalar(Scalar.of(false)))).shape());
        });
    }

    @Test
    void numbersAndTensorsAreWritten() {
        Leaks.none(() -> {
            Tensor x = Torch.ones(3, 4);
            // x[mask, 1:3] = 0
            x.set(0, Index.at(Tensor.of(true, false, true)), Index.slice(1, 3));
            assertArrayEquals(new float[] {1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1}, x.toFloatArray());
            // x[1] = 2.5; x[:, -1] = tensor([[7., 8., 9.]])
            x.set(2.5, Index.at(1)).set(Tensor.of(new float[][] {{7, 8, 9}}), Index.ALL, Index.at(-1));
            assertArrayEquals(new float[] {1, 0, 0, 7, 2.5f, 2.5f, 2.5f, 8, 1, 0, 0, 9}, x.toFloatArray());
            // x[x > 6] = tensor([3., 4., 5.])
            x.set(Tensor.of(3f, 4f, 5f), Index.at(x.gt(6)));
            assertArrayEquals(new float[] {1, 0, 0, 3, 2.5f, 2.5f, 2.5f, 4, 1, 0, 0, 5}, x.toFloatArray());
        });
    }

    @Test
    void gradientsFlowThroughEveryKindOfEntry() {
        Leaks.none(() -> {
            Tensor x = Torch.ones(3, 4).requiresGrad_(true);
            x.get(Index.at(Tensor.of(0L, 0L)), Index.slice(1, 3)).sum().backward();
            assertArrayEquals(new float[] {0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, x.grad().toFloatArray());
        });
    }

    @Test
    void slicesTakeNumbersAsTheyAreWritten() {
        Leaks.none(() -> {
            Tensor x = Torch.arange(5);
            assertArrayEquals(new long[] {1, 2, 3, 4}, x.get(Index.slice(1, null)).toLongArray());
            assertArrayEquals(new long[] {1, 3}, x.get(Index.slice(1, null, 2)).toLongArray());
            assertArrayEquals(new long[] {0, 1}, x.get(Index.slice(null, -3L)).toLongArray());
            assertEquals("slice indices must be integers or null, got end = 2.5",
                assertThrows(TensorTypeException.class, () -> Index.slice(1, 2.5)).getMessage());
            assertEquals("slice step cannot be zero", assertThrows(TensorValueException.class, () -> Index.slice(0, 1, 0)).getMessage());
            assertThrows(TensorValueException.class, () -> new Index.Slice(null, null, -1));
        });
    }

    /** Failed calls leak no handles. */
    @Test
    void faultsLeaveNothingBehind() {
        Leaks.none(() -> {
            Tensor x = Torch.ones(2, 3);
            Tensor wide = Tensor.of(7L);
            long before = Leaks.live();
            assertThrows(TensorIndexException.class, () -> x.get(0, 9));
            assertThrows(TensorIndexException.class, () -> x.get(Index.at(0), Index.at(wide)));
            assertThrows(TensorIndexException.class, () -> x.set(1, Index.at(0), Index.at(wide)));
            assertThrows(TensorIndexException.class, () -> x.get(Index.ELLIPSIS, Index.ELLIPSIS));
            assertThrows(TensorIndexException.class, () -> x.get(Index.at(x.gt(0)), Index.ALL));
            assertThrows(NullPointerException.class, () -> x.get(Index.at(0), null));
            Tensor closed = Tensor.of(1L);
            closed.close();
            assertThrows(IllegalStateException.class, () -> x.get(Index.at(closed)));
            assertThrows(RushlightException.class, () -> x.set(Tensor.of(1f, 2f), Index.at(0)));
            assertEquals(before + 2, Leaks.live(), "the mask and the value, which the test has made");
            assertArrayEquals(new float[] {1, 1, 1, 1, 1, 1}, x.toFloatArray());
        });
    }
}
