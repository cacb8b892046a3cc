package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Numbers, arrays, dtypes and devices: from Java to tensors and back, and tensor metadata. */
class ConversionsTest {
    private Scope scope;

    @BeforeEach
    void open() {
        scope = new Scope();
    }

    @AfterEach
    void close() {
        scope.close();
    }

    @Test
    void oneElementIsANumberOfJava() {
        assertEquals(2.5, Tensor.of(2.5f).itemDouble());
        assertEquals(2.5f, Tensor.of(2.5).itemFloat());
        assertEquals(-2, Tensor.of(-2.9).itemLong());
        assertEquals(7, Tensor.of(7L).itemInt());
        assertTrue(Tensor.of(0.5f).itemBoolean());
        assertFalse(Tensor.of(false).itemBoolean());
        assertTrue(Double.isNaN(Tensor.of(Double.NaN).itemFloat()));
        assertEquals(Float.POSITIVE_INFINITY, Tensor.of(Double.POSITIVE_INFINITY).itemFloat());
        assertEquals(3, Tensor.scalar(Scalar.complex(3, 0)).itemLong());
        String message = "value cannot be converted to type long without overflow";
        for (Tensor wrong : new Tensor[] {Tensor.of(1e19), Tensor.of(Double.NaN), Tensor.scalar(Scalar.complex(1, 2)),
            Tensor.scalar(BigInteger.ONE.shiftLeft(63))}) {
            assertEquals(message, assertThrows(TensorValueException.class, wrong::itemLong).getMessage());
        }
        assertThrows(TensorValueException.class, () -> Tensor.of(1L << 31).itemInt());
        assertThrows(TensorValueException.class, () -> Tensor.of(1e300).itemFloat());
        assertThrows(RushlightException.class, () -> Tensor.of(1f, 2f).itemFloat());
    }

    @Test
    void arraysOfAnyDepthBecomeTensors() {
        Tensor m = Tensor.of(new double[][] {{1, 2, 3}, {4, 5, 6}});
        assertEquals(DType.FLOAT64, m.dtype());
        assertArrayEquals(new long[] {2, 3}, m.shape());
        assertArrayEquals(new double[] {1, 2, 3, 4, 5, 6}, m.toDoubleArray());
        Tensor cube = Tensor.of(new float[][][] {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}});
        assertArrayEquals(new long[] {3, 2, 2}, cube.shape());
        assertEquals(11, cube.get(2, 1, 0).itemInt());
        assertEquals(DType.INT64, Tensor.of(new long[][] {{1}}).dtype());
        assertEquals(DType.INT32, Tensor.of(new int[][] {{1}}).dtype());
        assertEquals(DType.INT16, Tensor.of(new short[][] {{1}}).dtype());
        assertEquals(DType.BOOL, Tensor.of(new boolean[][] {{true}}).dtype());
        assertEquals(255, Tensor.of(new byte[][] {{-1}}).itemInt());
        assertArrayEquals(new long[] {0, 0}, Tensor.of(new float[0][]).shape());
        assertArrayEquals(new long[] {2, 0}, Tensor.of(new float[2][0]).shape());
        assertEquals("expected sequence of length 2 at dim 1 (got 1)",
            assertThrows(TensorValueException.class, () -> Tensor.of(new int[][] {{1, 2}, {3}})).getMessage());
        assertEquals("an array at dim 2 is null",
            assertThrows(TensorValueException.class, () -> Tensor.of(new int[][][] {{{1}}, {null}})).getMessage());
        assertThrows(TensorTypeException.class, () -> Tensor.of(new String[] {"1"}));
        assertThrows(TensorTypeException.class, () -> Tensor.of(new Double[][] {{1.0}}));
        // Repeated numbers take little memory, so that 2^34 elements can be requested.
        int[][] rows = new int[1 << 17][];
        java.util.Arrays.fill(rows, new int[1 << 17]);
        assertThrows(TensorValueException.class, () -> Tensor.of(rows));
    }

    @Test
    void complexNumbersGoThereAndBack() {
        Tensor z = Tensor.ofComplex(new double[] {1, 2, 3, -4}, 2);
        assertEquals(DType.COMPLEX128, z.dtype());
        assertArrayEquals(new double[] {1, 2, 3, -4}, z.toComplexArray());
        assertArrayEquals(new double[] {1, -2, 3, 4}, z.conj().toComplexArray());
        assertArrayEquals(new double[] {1, 2, 3, -4}, z.to(DType.COMPLEX64).toComplexArray());
        String message = assertThrows(TensorTypeException.class, () -> z.to(DType.COMPLEX64).toDoubleArray()).getMessage();
        assertEquals("toDoubleArray needs a tensor of dtype torch.float64, got torch.complex64; toComplexArray() has real and imaginary parts",
            message);
        assertThrows(TensorTypeException.class, () -> Tensor.of(1f).toComplexArray());
    }

    @Test
    void everyNumberOfJavaIsAScalar() {
        for (Number seven : new Number[] {new AtomicInteger(7), new AtomicLong(7), BigInteger.valueOf(7), (short) 7, (byte) 7}) {
            assertEquals(Scalar.of(7L), Scalar.of(seven), seven.getClass().getName());
        }
        LongAdder adder = new LongAdder();
        adder.add(7);
        assertEquals(Scalar.of(7L), Scalar.of(adder));
        assertEquals(Scalar.of(0.5), Scalar.of(new BigDecimal("0.5")));
        BigInteger most = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
        assertEquals(DType.UINT64, Tensor.scalar(most).dtype());
        assertEquals(most.toString(), Tensor.scalar(most).item().toString());
        assertEquals(Long.MIN_VALUE, Tensor.scalar(BigInteger.ONE.shiftLeft(63).negate()).itemLong());
        assertThrows(TensorValueException.class, () -> Scalar.of(most.add(BigInteger.ONE)));
        assertThrows(TensorValueException.class, () -> Scalar.of(BigInteger.ONE.shiftLeft(63).negate().subtract(BigInteger.ONE)));
    }

    @Test
    void devicesAreReadAsTheyAreWritten() {
        for (Device device : new Device[] {Device.CPU, Device.META, Device.cuda(0), Device.cuda(127), new Device(Device.Type.CUDA, -1)}) {
            assertEquals(device, Device.parse(device.toString()));
        }
        for (String wrong : new String[] {"", "cudaa", "cuda:", "cuda:01", "cuda:128", "CPU", "cpu:-1"}) {
            String message = assertThrows(TensorValueException.class, () -> Device.parse(wrong)).getMessage();
            assertTrue(message.startsWith("Invalid device string: '" + wrong + "'"), message);
        }
    }

    @Test
    void tensorsAnswerQuestions() {
        Tensor x = Torch.ones(2, 3, 4, 5);
        assertEquals(4, x.elementSize());
        assertEquals(480, x.nbytes());
        assertTrue(x.isFloatingPoint() && x.isSigned() && !x.isComplex() && x.isCpu() && !x.isCuda() && !x.isMeta());
        assertEquals(MemoryFormat.CONTIGUOUS, x.suggestMemoryFormat());
        Tensor nhwc = x.contiguous(MemoryFormat.CHANNELS_LAST);
        assertFalse(nhwc.isContiguous());
        assertTrue(nhwc.isContiguous(MemoryFormat.CHANNELS_LAST));
        assertEquals(MemoryFormat.CHANNELS_LAST, nhwc.suggestMemoryFormat());
        assertEquals(MemoryFormat.CHANNELS_LAST, nhwc.slice(2, 0L, 4L, 2).suggestMemoryFormat());
        assertEquals(MemoryFormat.CONTIGUOUS, Torch.ones(4, 1, 4, 4).suggestMemoryFormat());
        assertEquals(MemoryFormat.CHANNELS_LAST_3D, Torch.ones(2, 3, 4, 5, 6).contiguous(MemoryFormat.CHANNELS_LAST_3D).suggestMemoryFormat());
        assertTrue(nhwc.isNonOverlappingAndDense() && !nhwc.slice(2, 0L, 4L, 2).isNonOverlappingAndDense());
        assertTrue(x.isSameSize(nhwc) && !x.isSameSize(x.flatten(0, 1)));
        assertFalse(Tensor.of(true).isSigned());
        Tensor z = Tensor.ofComplex(new double[] {1, 2}, 1);
        assertTrue(z.isComplex() && z.conj().isConj() && !z.isConj() && Torch.imag(z.conj()).isNeg() && !z.isNeg());
        Tensor w = Torch.ones(3).requiresGrad_(true);
        assertTrue(w.slice(0, 0L, 1L, 1).base().isSame(w));
        assertNull(w.base());
        assertEquals(DType.FLOAT64, Torch.zeros(new long[] {1}, Tensor.of(1.0).options()).dtype());
    }

    @Test
    void equalityIsOfSizesAndNumbers() {
        Tensor a = Tensor.of(1f, 2f);
        assertTrue(a.equal(Tensor.of(1f, 2f)) && Torch.equal(a, a));
        assertFalse(a.equal(Tensor.of(1f, 3f)) || a.equal(Tensor.of(1f)) || a.equal(a.view(1, 2)));
        assertFalse(Tensor.of(Float.NaN).equal(Tensor.of(Float.NaN)));
        assertTrue(a.allclose(Tensor.of(1f, 2.00001f)) && Torch.allclose(a, Tensor.of(1f, 2.1f), 0, 0.2, false));
        assertFalse(a.allclose(Tensor.of(1f, 2.1f)));
        assertTrue(Tensor.of(Float.NaN).allclose(Tensor.of(Float.NaN), 1e-5, 1e-8, true));
        assertTrue(Tensor.of(2f).isNonzero());
        assertFalse(Tensor.of(0L).isNonzero());
        assertEquals("Boolean value of Tensor with more than one value is ambiguous",
            assertThrows(RushlightException.class, a::isNonzero).getMessage());
        assertEquals("Boolean value of Tensor with no values is ambiguous",
            assertThrows(RushlightException.class, () -> Torch.empty(0).isNonzero()).getMessage());
    }

    @Test
    void tensorsGoToOtherDevicesAndDtypes() {
        Tensor a = Tensor.of(1f, 2f);
        assertEquals(Device.META, a.to(Device.META).device());
        assertEquals(DType.FLOAT32, a.meta().dtype());
        assertTrue(a.cpu().isAliasOf(a));
        assertEquals(DType.FLOAT64, a.typeAs(Tensor.of(1.0)).dtype());
        assertThrows(RushlightException.class, a::cuda);
    }

    /** torch.promote_types, torch.can_cast and torch.resultType of the same arguments. */
    @Test
    void dtypesArePromoted() {
        assertEquals(DType.FLOAT16, Torch.promoteTypes(DType.INT64, DType.FLOAT16));
        assertEquals(DType.FLOAT32, Torch.promoteTypes(DType.BFLOAT16, DType.FLOAT16));
        assertThrows(RushlightException.class, () -> Torch.promoteTypes(DType.UINT16, DType.INT32));
        assertTrue(Torch.canCast(DType.INT64, DType.FLOAT16) && Torch.canCast(DType.FLOAT64, DType.FLOAT16));
        assertFalse(Torch.canCast(DType.FLOAT32, DType.INT64));
        assertEquals(DType.FLOAT32, Torch.resultType(Tensor.of(1L, 2L), 0.5));
        assertEquals(DType.UINT8, Torch.resultType(3, Tensor.ofBytes(new byte[1], 1)));
        assertEquals(DType.UINT8, Torch.resultType(Tensor.ofBytes(new byte[1], 1), Tensor.scalar(3)));
        assertEquals(DType.FLOAT32, Torch.resultType(1, 2.5));
        assertEquals(DType.INT64, Torch.resultType(1, 2));
    }

    @Test
    void specialFunctionsHaveTheirOtherNames() {
        Tensor x = Tensor.of(3.0, 4.5);
        assertTrue(Torch.specialMultigammaln(x, 2).equal(x.mvlgamma(2)));
    }
}
