package org.pytorch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Tensors: buffers and arrays of every dtype, layouts in memory, and results of modules that are views. */
class TensorTest {
    private static final long[] PAIR = {2};

    @Test
    void arraysOfEveryDtype() {
        Tensor bytes = Tensor.fromBlob(new byte[] {-128, 127}, PAIR);
        Tensor unsigned = Tensor.fromBlobUnsigned(new byte[] {-1, 1}, PAIR);
        Tensor ints = Tensor.fromBlob(new int[] {Integer.MIN_VALUE, 1}, PAIR);
        Tensor floats = Tensor.fromBlob(new float[] {1.5f, -2}, PAIR);
        Tensor longs = Tensor.fromBlob(new long[] {Long.MIN_VALUE, 1}, PAIR);
        Tensor doubles = Tensor.fromBlob(new double[] {Double.MIN_VALUE, 1}, PAIR);
        assertEquals(List.of(DType.INT8, DType.UINT8, DType.INT32, DType.FLOAT32, DType.INT64, DType.FLOAT64),
            List.of(bytes.dtype(), unsigned.dtype(), ints.dtype(), floats.dtype(), longs.dtype(), doubles.dtype()));
        assertArrayEquals(new byte[] {-128, 127}, bytes.getDataAsByteArray());
        assertArrayEquals(new byte[] {-1, 1}, unsigned.getDataAsUnsignedByteArray());
        assertArrayEquals(new int[] {Integer.MIN_VALUE, 1}, ints.getDataAsIntArray());
        assertArrayEquals(new float[] {1.5f, -2}, floats.getDataAsFloatArray());
        assertArrayEquals(new long[] {Long.MIN_VALUE, 1}, longs.getDataAsLongArray());
        assertArrayEquals(new double[] {Double.MIN_VALUE, 1}, doubles.getDataAsDoubleArray());
        for (Callable<?> wrong : List.<Callable<?>>of(bytes::getDataAsUnsignedByteArray, unsigned::getDataAsByteArray, ints::getDataAsLongArray,
                floats::getDataAsDoubleArray, longs::getDataAsIntArray, doubles::getDataAsFloatArray)) {
            assertThrows(IllegalStateException.class, wrong::call);
        }
        assertEquals("Tensor([2], dtype=torch.int8) Tensor([2], dtype=torch.uint8) Tensor([2], dtype=torch.int64)", bytes + " " + unsigned + " " + longs);
    }

    /** A module reads and writes the memory of a buffer. */
    @Test
    void buffersOfEveryDtypeAreShared() {
        ByteBuffer bytes = Tensor.allocateByteBuffer(2).put(0, (byte) 5);
        IntBuffer ints = Tensor.allocateIntBuffer(2).put(0, 5);
        FloatBuffer floats = Tensor.allocateFloatBuffer(2).put(0, 5);
        LongBuffer longs = Tensor.allocateLongBuffer(2).put(0, 5);
        DoubleBuffer doubles = Tensor.allocateDoubleBuffer(2).put(0, 5);
        // The position has no meaning.
        floats.position(1);
        Module module = ModuleTest.values();
        for (Tensor tensor : List.of(Tensor.fromBlob(bytes, PAIR), Tensor.fromBlobUnsigned(bytes, PAIR), Tensor.fromBlob(ints, PAIR),
                Tensor.fromBlob(floats, PAIR), Tensor.fromBlob(longs, PAIR), Tensor.fromBlob(doubles, PAIR))) {
            assertEquals(tensor.dtype(), module.runMethod("add_one_", IValue.from(tensor)).toTensor().dtype());
        }
        assertEquals("7 6 6.0 6 6.0", bytes.get(0) + " " + ints.get(0) + " " + floats.get(0) + " " + longs.get(0) + " " + doubles.get(0));
        assertEquals(1, floats.position());
        assertEquals(1f, floats.get(1));
    }

    /** Arrays are copied. */
    @Test
    void arraysAreNotShared() {
        float[] elements = {1, 2};
        long[] shape = {2};
        Tensor tensor = Tensor.fromBlob(elements, shape);
        elements[0] = 9;
        shape[0] = 9;
        tensor.shape()[0] = 9;
        tensor.getDataAsFloatArray()[1] = 9;
        assertArrayEquals(new float[] {1, 2}, tensor.getDataAsFloatArray());
        assertArrayEquals(PAIR, tensor.shape());
    }

    @Test
    void readOnlyBuffersAreCopied() {
        Module module = ModuleTest.values();
        FloatBuffer floats = Tensor.allocateFloatBuffer(2).put(0, 5);
        assertArrayEquals(new float[] {6, 1},
            module.runMethod("add_one_", IValue.from(Tensor.fromBlob(floats.asReadOnlyBuffer(), PAIR))).toTensor().getDataAsFloatArray());
        assertEquals(5f, floats.get(0));
        ByteBuffer bytes = Tensor.allocateByteBuffer(2).put(0, (byte) 5).asReadOnlyBuffer();
        assertArrayEquals(new byte[] {6, 1}, module.runMethod("add_one_", IValue.from(Tensor.fromBlobUnsigned(bytes, PAIR))).toTensor().getDataAsUnsignedByteArray());
        IntBuffer ints = Tensor.allocateIntBuffer(2).asReadOnlyBuffer();
        LongBuffer longs = Tensor.allocateLongBuffer(2).asReadOnlyBuffer();
        DoubleBuffer doubles = Tensor.allocateDoubleBuffer(2).asReadOnlyBuffer();
        for (Tensor tensor : List.of(Tensor.fromBlob(ints, PAIR), Tensor.fromBlob(longs, PAIR), Tensor.fromBlob(doubles, PAIR))) {
            assertEquals(tensor.dtype(), module.runMethod("add_one_", IValue.from(tensor)).toTensor().dtype());
        }
        assertEquals(0, ints.get(0));
    }

    @Test
    void wrongDataIsReported() {
        for (Callable<?> wrong : List.<Callable<?>>of(
                () -> Tensor.fromBlob((float[]) null, PAIR),
                () -> Tensor.fromBlob(new float[2], null),
                () -> Tensor.fromBlob(new float[3], PAIR),
                () -> Tensor.fromBlob(new float[2], new long[] {-2}),
                () -> Tensor.fromBlob(new float[2], PAIR, null),
                () -> Tensor.fromBlob(new float[2], PAIR, MemoryFormat.CHANNELS_LAST),
                () -> Tensor.fromBlob(new float[2], new long[] {1, 2, 1, 1}, MemoryFormat.CHANNELS_LAST_3D),
                () -> Tensor.fromBlob(FloatBuffer.allocate(2), PAIR),
                () -> Tensor.fromBlob(ByteBuffer.allocateDirect(8).order(other()).asFloatBuffer(), PAIR),
                () -> Tensor.numel(new long[] {Long.MAX_VALUE, 2}))) {
            assertThrows(IllegalArgumentException.class, wrong::call);
        }
    }

    private static ByteOrder other() {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    }

    @Test
    void numbersOfElements() {
        assertEquals(1, Tensor.numel(new long[0]));
        assertEquals(0, Tensor.numel(new long[] {3, 0, Long.MAX_VALUE}));
        assertEquals(24, Tensor.fromBlob(new byte[24], new long[] {2, 3, 4}).numel());
        Tensor empty = Tensor.fromBlob(new float[0], new long[] {0, 3});
        Tensor output = ModuleTest.values().runMethod("same_tensor", IValue.from(empty)).toTensor();
        assertArrayEquals(new long[] {0, 3}, output.shape());
        assertEquals(0, output.getDataAsFloatArray().length);
    }

    @Test
    void aTensorWithoutDimensionsHasOneElement() {
        Tensor output = ModuleTest.values().runMethod("zero_dim", IValue.from(Tensor.fromBlob(new long[] {17}, new long[0]))).toTensor();
        assertArrayEquals(new long[0], output.shape());
        assertArrayEquals(new long[] {17}, output.getDataAsLongArray());
    }

    @Test
    void viewsAreReadFromWhereTheyBegin() {
        Tensor[] parts = ModuleTest.values().runMethod("parts").toTensorList();
        assertArrayEquals(new long[] {20, 30, 40}, parts[0].getDataAsLongArray());
        assertArrayEquals(new long[] {40}, parts[1].getDataAsLongArray());
        Tensor gaps = ModuleTest.values().runMethod("every_other").toTensor();
        assertArrayEquals(new long[] {20, 40}, gaps.getDataAsLongArray());
        assertArrayEquals(new long[] {2}, gaps.shape());
    }

    private static void check(MemoryFormat format, long[] shape, long[] inMemory, IValue result) {
        Tensor tensor = result.toTensor();
        assertEquals(format, tensor.memoryFormat());
        assertArrayEquals(shape, tensor.shape());
        assertArrayEquals(inMemory, tensor.getDataAsLongArray());
    }

    /** Rearranges row-major elements (N, C, pixels) so that channels are neighbours. */
    private static long[] channelsLast(long[] rows, int channels) {
        int pixels = rows.length / channels;
        long[] result = new long[rows.length];
        for (int i = 0; i < rows.length; i++) {
            result[i % pixels * channels + i / pixels] = rows[i];
        }
        return result;
    }

    private static long[] count(int number) {
        long[] numbers = new long[number];
        java.util.Arrays.setAll(numbers, i -> i);
        return numbers;
    }

    @Test
    void channelsLastSurvives() {
        Module module = ModuleTest.values();
        long[] shape = {1, 3, 2, 4};
        long[] rows = count(24);
        long[] last = channelsLast(rows, 3);
        IValue input = IValue.from(Tensor.fromBlob(last, shape, MemoryFormat.CHANNELS_LAST));
        check(MemoryFormat.CONTIGUOUS, shape, rows, module.runMethod("contiguous", input));
        check(MemoryFormat.CHANNELS_LAST, shape, last, module.runMethod("same_tensor", input));
        check(MemoryFormat.CHANNELS_LAST, shape, last, module.runMethod("channels_last", IValue.from(Tensor.fromBlob(rows, shape))));
    }

    @Test
    void channelsLast3dSurvives() {
        Module module = ModuleTest.values();
        long[] shape = {1, 2, 2, 3, 2};
        long[] rows = count(24);
        long[] last = channelsLast(rows, 2);
        IValue input = IValue.from(Tensor.fromBlob(last, shape, MemoryFormat.CHANNELS_LAST_3D));
        check(MemoryFormat.CONTIGUOUS, shape, rows, module.runMethod("contiguous", input));
        check(MemoryFormat.CHANNELS_LAST_3D, shape, last, module.runMethod("channels_last_3d", IValue.from(Tensor.fromBlob(rows, shape))));
    }

    /** A convolution with kernels of size 1 over integers, in both layouts. */
    @Test
    void convolutionsOfIntegers() {
        Module module = ModuleTest.values();
        long[] weight = {1, 0, 10, 1};
        long[] rows = count(8);
        long[] expected = new long[8];
        for (int i = 0; i < 4; i++) {
            expected[i] = rows[i];
            expected[4 + i] = 10 * rows[i] + rows[4 + i];
        }
        for (String method : List.of("conv2d", "conv3d")) {
            boolean volume = method.equals("conv3d");
            long[] shape = volume ? new long[] {1, 2, 1, 2, 2} : new long[] {1, 2, 2, 2};
            long[] kernel = volume ? new long[] {2, 2, 1, 1, 1} : new long[] {2, 2, 1, 1};
            MemoryFormat last = volume ? MemoryFormat.CHANNELS_LAST_3D : MemoryFormat.CHANNELS_LAST;
            check(MemoryFormat.CONTIGUOUS, shape, expected,
                module.runMethod(method, IValue.from(Tensor.fromBlob(rows, shape)), IValue.from(Tensor.fromBlob(weight, kernel))));
            IValue result = module.runMethod(method, IValue.from(Tensor.fromBlob(channelsLast(rows, 2), shape, last)),
                IValue.from(Tensor.fromBlob(weight, kernel, last)));
            check(last, shape, channelsLast(expected, 2), result);
        }
    }

    @Test
    void codesAreThoseOfPyTorch() {
        assertEquals(List.of(1, 2, 3, 4, 5, 6), List.of(DType.values()).stream().map(dtype -> dtype.jniCode).toList());
        assertEquals(List.of(1, 2, 3), List.of(MemoryFormat.values()).stream().map(format -> format.jniCode).toList());
        assertEquals(List.of(1, 2), List.of(Device.values()).stream().map(device -> device.jniCode).toList());
        assertTrue(Tensor.allocateByteBuffer(3).isDirect());
    }
}
