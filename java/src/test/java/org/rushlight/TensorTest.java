package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TensorTest {
    private Scope scope;
    private long before;

    @BeforeEach
    void open() {
        before = Leaks.live();
        scope = new Scope();
    }

    @AfterEach
    void close() {
        scope.close();
        assertEquals(before, Leaks.live(), "native handles left over");
    }

    @Test
    void valuesGoInAndComeOut() {
        assertArrayEquals(new float[] {1, 2, 3}, Tensor.of(1f, 2f, 3f).toFloatArray());
        assertArrayEquals(new double[] {1, 2}, Tensor.of(1.0, 2.0).toDoubleArray());
        assertArrayEquals(new int[] {1, -2}, Tensor.of(1, -2).toIntArray());
        assertArrayEquals(new long[] {1, 1L << 40}, Tensor.of(1L, 1L << 40).toLongArray());
        assertArrayEquals(new boolean[] {true, false}, Tensor.of(true, false).toBooleanArray());
        assertArrayEquals(new byte[] {1, (byte) 200}, Tensor.ofBytes(new byte[] {1, (byte) 200}, 2).toByteArray());
        Tensor matrix = Tensor.of(new float[][] {{1, 2, 3}, {4, 5, 6}});
        assertArrayEquals(new long[] {2, 3}, matrix.shape());
        assertArrayEquals(new long[] {3, 1}, matrix.stride());
        assertArrayEquals(new float[] {1, 4, 2, 5, 3, 6}, matrix.t().toFloatArray());
        assertEquals(DType.FLOAT32, matrix.dtype());
        assertEquals(Device.CPU, matrix.device());
        assertEquals(6, matrix.numel());
        assertEquals(3, matrix.size(-1));
        assertEquals(0, Tensor.of(new float[0]).numel());
    }

    @Test
    void scalarsKeepTheirKind() {
        assertEquals(Scalar.of(7L), Tensor.scalar(7).item());
        assertEquals(DType.INT64, Tensor.scalar(7).dtype());
        assertEquals(2.5, Tensor.scalar(2.5).item().doubleValue());
        assertEquals(DType.FLOAT32, Tensor.scalar(2.5).dtype());
        assertTrue(Tensor.scalar(Scalar.of(true)).item().booleanValue());
        Tensor complex = Torch.full(new long[] {1}, Scalar.complex(1, -2), TensorOptions.of(DType.COMPLEX128));
        assertEquals(Scalar.complex(1, -2), complex.item());
    }

    @Test
    void operatorsComputeAsInTorch() {
        Tensor a = Tensor.of(1f, 2f, 3f);
        assertArrayEquals(new float[] {3, 4, 5}, a.add(2).toFloatArray());
        assertArrayEquals(new float[] {3, 6, 9}, a.add(a, 2).toFloatArray());
        assertEquals(DType.FLOAT32, Torch.add(a, Tensor.of(1, 2, 3)).dtype());
        assertEquals(6, a.sum().item().doubleValue());
        assertArrayEquals(new long[] {3, 1}, a.view(3, 1).shape());
        Results.ValuesIndices best = Tensor.of(new float[][] {{1, 5}, {7, 2}}).max(1);
        assertArrayEquals(new float[] {5, 7}, best.values().toFloatArray());
        assertArrayEquals(new long[] {1, 0}, best.indices().toLongArray());
        assertArrayEquals(new float[] {1, 2, 3, 1, 2, 3}, Torch.cat(a, a).toFloatArray());
        assertArrayEquals(new float[] {2, 2}, Tensor.of(1f, 3f).clamp(2, 2).toFloatArray());
        assertArrayEquals(new float[] {2, 3}, Tensor.of(1f, 3f).clamp(2, null).toFloatArray());
        Tensor in = Tensor.of(1f, 2f);
        assertTrue(in == in.mul_(3), "an in-place operator returns its own object");
        assertArrayEquals(new float[] {3, 6}, in.toFloatArray());
        assertEquals(Device.META, Torch.zeros(new long[] {2, 3}, TensorOptions.of(Device.META)).device());
        assertTrue(Torch.zeros(new long[] {2}, TensorOptions.of(DType.FLOAT64).withRequiresGrad(true)).requiresGrad());
    }

    @Test
    void randomNumbersAreThoseOfPyTorch() {
        // torch.manual_seed(0); torch.rand(3)
        Torch.manualSeed(0);
        assertArrayEquals(new float[] {0.49625659f, 0.76822180f, 0.08847743f}, Torch.rand(3).toFloatArray(), 1e-8f);
        try (Generator generator = new Generator(0)) {
            Tensor state = generator.getState();
            float[] first = Torch.rand(new long[] {3}, generator).toFloatArray();
            assertEquals(0.49625659f, first[0], 1e-8f);
            generator.setState(state);
            assertArrayEquals(first, Torch.rand(new long[] {3}, generator).toFloatArray());
            assertEquals(0, generator.initialSeed());
        }
    }

    @Test
    void indexingGivesViews() {
        Tensor t = Torch.arange(12).view(3, 4);
        assertEquals(6, t.get(1, 2).item().longValue());
        assertArrayEquals(new long[] {9, 11}, t.get(Index.at(-1), Index.slice(1L, null, 2)).toLongArray());
        assertArrayEquals(new long[] {3, 1, 4}, t.get(Index.ALL, Index.NONE).shape());
        assertArrayEquals(new long[] {1, 5, 9}, t.get(Index.ELLIPSIS, Index.at(1)).toLongArray());
        t.set(Tensor.scalar(0), Index.at(0));
        assertArrayEquals(new long[] {0, 0, 0, 0}, t.get(0).toLongArray());
        assertThrows(TensorIndexException.class, () -> t.get(3));
        assertThrows(TensorIndexException.class, () -> t.get(0, 0, 0));
        assertTrue(t.get(0).isAliasOf(t));
    }

    @Test
    void tensorsIndexSeveralDimensions() {
        Tensor t = Torch.arange(12).view(3, 4);
        Tensor rows = Tensor.of(2L, 0L);
        assertArrayEquals(new long[] {11, 3}, t.index(new Tensor[] {rows, Tensor.of(3L, 3L)}).toLongArray());
        assertArrayEquals(new long[] {3, 2}, t.index(new Tensor[] {null, rows}).shape());
        assertArrayEquals(new long[] {10, 11}, t.index(new Tensor[] {t.gt(9)}).toLongArray());
        t.indexPut_(new Tensor[] {Tensor.of(0L, 0L), Tensor.of(1L, 1L)}, Tensor.scalar(5), true);
        assertEquals(11, t.get(0, 1).item().longValue());
        Tensor[] slopes = Torch.gradient(t.to(DType.FLOAT32), new Number[] {2, 0.5});
        assertEquals(2, slopes.length);
        assertThrows(TensorIndexException.class, () -> t.index(new Tensor[] {Tensor.of(3L)}));
    }

    @Test
    void buffersAreShared() {
        FloatBuffer floats = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder()).asFloatBuffer();
        floats.put(new float[] {1, 2, 3, 4}).rewind();
        Tensor t = Tensor.fromBuffer(floats, DType.FLOAT32, 2, 2);
        floats.put(0, 10);
        assertArrayEquals(new float[] {10, 2, 3, 4}, t.toFloatArray());
        t.mul_(2);
        assertEquals(20, floats.get(0));
        assertArrayEquals(new float[] {6, 8}, Tensor.fromBuffer(floats.position(2), DType.FLOAT32, 2).toFloatArray());
        assertThrows(RushlightException.class, () -> Tensor.fromBuffer(floats, DType.FLOAT32, 5));
        assertThrows(TensorValueException.class, () -> Tensor.fromBuffer(FloatBuffer.allocate(1), DType.FLOAT32, 1));
    }

    @Test
    void theBufferOfATensorOutlivesIt() {
        long around = Leaks.live();
        useBuffer();
        Leaks.collect(around);
    }

    private static void useBuffer() {
        ByteBuffer view;
        try (Tensor owned = Tensor.of(1f, 2f)) {
            view = owned.toBuffer();
            view.putFloat(4, 5);
            assertArrayEquals(new float[] {1, 5}, owned.toFloatArray());
        }
        System.gc();
        assertEquals(5, view.slice().order(ByteOrder.nativeOrder()).getFloat(4));
    }

    @Test
    void printsLikePyTorch() {
        assertEquals("tensor([1., 2.])", Tensor.of(1f, 2f).toString());
        assertEquals("tensor(7)", Tensor.scalar(7).toString());
        assertEquals("tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])",
            Tensor.of(new float[][] {{1, 2.5f}, {3, 4}}).toString());
        assertEquals("tensor([ True, False])", Tensor.of(true, false).toString());
        assertEquals("tensor([1, 2], dtype=torch.int32)", Tensor.of(1, 2).toString());
        assertEquals("tensor([], size=(0, 3))", Torch.zeros(0, 3).toString());
        assertEquals("tensor([1.0000e+00, 1.0000e+05])", Tensor.of(1f, 1e5f).toString());
        assertEquals("tensor([0., inf, nan])", Tensor.of(0f, Float.POSITIVE_INFINITY, Float.NaN).toString());
        assertEquals("tensor([1.], requires_grad=True)", Tensor.of(1f).requiresGrad_(true).toString());
        Tensor leaf = Tensor.of(2f).requiresGrad_(true);
        assertEquals("tensor([4.], grad_fn=<MulBackward0>)", leaf.mul(leaf).toString());
        assertEquals("tensor([   0,    1,    2,  ..., 1998, 1999, 2000])", Torch.arange(2001).toString());
    }

    @Test
    void errorsAreTypedAndNameWhatIsWrong() {
        Tensor a = Torch.zeros(2, 3);
        Tensor b = Torch.zeros(4);
        RushlightException shapes = assertThrows(RushlightException.class, () -> a.add(b));
        assertTrue(shapes.getMessage().contains("3") && shapes.getMessage().contains("4"), shapes.getMessage());
        assertThrows(TensorIndexException.class, () -> a.sum(5));
        assertThrows(TensorTypeException.class, a::toIntArray);
        assertThrows(RushlightException.class, () -> a.item());
        assertThrows(RushlightException.class, () -> Tensor.of(new float[3], 2, 2));
        assertThrows(RushlightException.class, () -> a.view(-1, 4));
        assertThrows(NullPointerException.class, () -> a.add((Tensor) null));
        assertThrows(NullPointerException.class, () -> a.add((Number) null));
        assertThrows(RushlightException.class, () -> Torch.zeros(new long[] {1}, TensorOptions.of(Device.cuda(0))));
        assertFalse(a.isClosed());
    }

    @Test
    void cancelledOperatorsThrow() {
        Tensor a = Torch.ones(2);
        Torch.setCancelled(true);
        try {
            assertThrows(CancelledException.class, () -> a.add(a));
        } finally {
            Torch.setCancelled(false);
        }
        assertEquals(4, a.add(a).sum().item().doubleValue());
    }

    /** An index that fails at a later entry leaks no view of the earlier ones. */
    @Test
    void anIndexThatFailsLeavesNothingBehind() {
        try (Tensor tensor = Torch.ones(2, 3, 4)) {
            long before = Leaks.live();
            assertThrows(TensorIndexException.class, () -> tensor.get(Index.at(0), Index.slice(0, 2), Index.at(9)));
            assertThrows(TensorValueException.class, () -> tensor.get(Index.at(0), Index.NONE, Index.slice(0L, 2L, -1)));
            assertEquals(before, Leaks.live());
            tensor.get(Index.at(0), Index.slice(0, 2), Index.at(3)).close();
            tensor.get(new Index[0]).close();
            assertEquals(before, Leaks.live());
        }
    }
}
