package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Quantized tensors; numbers and strings are those of PyTorch 2.7.1. */
class QuantizedTest {
    @Test
    void aTensorIsQuantizedWithOneScale() {
        Leaks.none(() -> {
            Tensor q = Torch.quantizePerTensor(Tensor.of(1f, -2f, 0.25f), 0.5, 3, DType.QINT8);
            assertTrue(q.isQuantized());
            assertEquals(QScheme.PER_TENSOR_AFFINE, q.qscheme());
            assertEquals(0.5, q.qScale());
            assertArrayEquals(new byte[] {5, -1, 3}, q.intRepr().toByteArray());
            assertArrayEquals(new float[] {1, -2, 0}, q.dequantize().toFloatArray());
            assertEquals("tensor([ 1., -2.,  0.], size=(3,), dtype=torch.qint8,\n"
                + "       quantization_scheme=torch.per_tensor_affine, scale=0.5, zero_point=3)", q.toString());
        });
    }

    @Test
    void channelsHaveScalesOfTheirOwn() {
        Leaks.none(() -> {
            Tensor x = Tensor.of(1f, -2f, 0.25f, 3f).view(2, 2);
            Tensor q = Torch.quantizePerChannel(x, Tensor.of(0.5f, 0.25f), Tensor.of(3L, 1L), 0, DType.QUINT8);
            assertEquals(QScheme.PER_CHANNEL_AFFINE, q.qscheme());
            assertEquals(0, q.qPerChannelAxis());
            assertArrayEquals(new byte[] {5, 0, 2, 13}, q.intRepr().toByteArray());
        });
    }

    @Test
    void otherTensorsHaveNoScheme() {
        Leaks.none(() -> {
            Tensor x = Tensor.of(1f);
            assertFalse(x.isQuantized());
            assertThrows(NotImplementedException.class, x::qscheme);
        });
    }
}
