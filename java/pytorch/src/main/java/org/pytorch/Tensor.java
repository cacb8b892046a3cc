package org.pytorch;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A tensor with its elements in a direct buffer. The buffers that a program passes are not copied: a module reads and
 * writes their memory. Results of modules have theirs in native memory, which the garbage collector frees.
 *
 * <p>The elements are in the order of memory, which {@link #memoryFormat} names.
 */
public final class Tensor {
    private final Buffer data;
    private final DType dtype;
    private final long[] shape;
    private final MemoryFormat format;

    private Tensor(Buffer data, DType dtype, long[] shape, MemoryFormat format) {
        this.data = data;
        this.dtype = dtype;
        this.shape = shape;
        this.format = format;
    }

    // Buffers.

    /**
     * Creates a direct buffer for bytes, in native byte order.
     *
     * @param numElements its capacity
     * @return the buffer
     */
    public static ByteBuffer allocateByteBuffer(int numElements) {
        return allocate(numElements, 1);
    }

    /**
     * Creates a direct buffer for integers of 32 bits, in native byte order.
     *
     * @param numElements its capacity
     * @return the buffer
     */
    public static IntBuffer allocateIntBuffer(int numElements) {
        return allocate(numElements, 4).asIntBuffer();
    }

    /**
     * Creates a direct buffer for floating-point numbers of 32 bits, in native byte order.
     *
     * @param numElements its capacity
     * @return the buffer
     */
    public static FloatBuffer allocateFloatBuffer(int numElements) {
        return allocate(numElements, 4).asFloatBuffer();
    }

    /**
     * Creates a direct buffer for integers of 64 bits, in native byte order.
     *
     * @param numElements its capacity
     * @return the buffer
     */
    public static LongBuffer allocateLongBuffer(int numElements) {
        return allocate(numElements, 8).asLongBuffer();
    }

    /**
     * Creates a direct buffer for floating-point numbers of 64 bits, in native byte order.
     *
     * @param numElements its capacity
     * @return the buffer
     */
    public static DoubleBuffer allocateDoubleBuffer(int numElements) {
        return allocate(numElements, 8).asDoubleBuffer();
    }

    private static ByteBuffer allocate(int elements, int size) {
        return ByteBuffer.allocateDirect(Math.multiplyExact(elements, size)).order(ByteOrder.nativeOrder());
    }

    // Creation.

    /** Checks what every creation gets. */
    private static Tensor create(Buffer data, DType dtype, long[] shape, MemoryFormat format) {
        check(data.isDirect(), "the buffer is not direct; allocateByteBuffer and similar methods create direct ones");
        check(format != null, "the memory format is null");
        long expected = numel(shape);
        check(expected == data.capacity(), "the shape " + Arrays.toString(shape) + " has " + expected + " elements, the data " + data.capacity());
        int dimensions = format == MemoryFormat.CHANNELS_LAST ? 4 : format == MemoryFormat.CHANNELS_LAST_3D ? 5 : shape.length;
        check(shape.length == dimensions, format + " is for shapes of " + dimensions + " dimensions, not " + Arrays.toString(shape));
        return new Tensor(data, dtype, shape.clone(), format);
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    private static void checkData(@Nullable Object data) {
        check(data != null, "the data is null");
    }

    private static void checkOrder(ByteOrder order) {
        check(order == ByteOrder.nativeOrder(), "the elements of the buffer are " + order + ", those of tensors " + ByteOrder.nativeOrder());
    }

    /**
     * Creates a tensor of dtype UINT8 from an array.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlobUnsigned(byte[] data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        ByteBuffer copy = allocateByteBuffer(data.length);
        copy.duplicate().put(data);
        return create(copy, DType.UINT8, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype UINT8 from an array, in row-major order.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlobUnsigned(byte[] data, long[] shape) {
        return fromBlobUnsigned(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype INT8 from an array.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(byte[] data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        ByteBuffer copy = allocateByteBuffer(data.length);
        copy.duplicate().put(data);
        return create(copy, DType.INT8, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype INT8 from an array, in row-major order.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(byte[] data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype INT32 from an array.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(int[] data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        IntBuffer copy = allocateIntBuffer(data.length);
        copy.duplicate().put(data);
        return create(copy, DType.INT32, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype INT32 from an array, in row-major order.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(int[] data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype FLOAT32 from an array.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(float[] data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        FloatBuffer copy = allocateFloatBuffer(data.length);
        copy.duplicate().put(data);
        return create(copy, DType.FLOAT32, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype FLOAT32 from an array, in row-major order.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(float[] data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype INT64 from an array.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(long[] data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        LongBuffer copy = allocateLongBuffer(data.length);
        copy.duplicate().put(data);
        return create(copy, DType.INT64, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype INT64 from an array, in row-major order.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(long[] data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype FLOAT64 from an array.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(double[] data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        DoubleBuffer copy = allocateDoubleBuffer(data.length);
        copy.duplicate().put(data);
        return create(copy, DType.FLOAT64, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype FLOAT64 from an array, in row-major order.
     *
     * @param data the elements, which are copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(double[] data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype UINT8 over a buffer.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlobUnsigned(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        return create(data, DType.UINT8, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype UINT8 over a buffer, in row-major order.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlobUnsigned(ByteBuffer data, long[] shape) {
        return fromBlobUnsigned(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype INT8 over a buffer.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        return create(data, DType.INT8, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype INT8 over a buffer, in row-major order.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(ByteBuffer data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype INT32 over a buffer.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(IntBuffer data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        checkOrder(data.order());
        return create(data, DType.INT32, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype INT32 over a buffer, in row-major order.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(IntBuffer data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype FLOAT32 over a buffer.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(FloatBuffer data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        checkOrder(data.order());
        return create(data, DType.FLOAT32, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype FLOAT32 over a buffer, in row-major order.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(FloatBuffer data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype INT64 over a buffer.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(LongBuffer data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        checkOrder(data.order());
        return create(data, DType.INT64, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype INT64 over a buffer, in row-major order.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(LongBuffer data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    /**
     * Creates a tensor of dtype FLOAT64 over a buffer.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @param memoryFormat the order of the elements
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(DoubleBuffer data, long[] shape, MemoryFormat memoryFormat) {
        checkData(data);
        checkOrder(data.order());
        return create(data, DType.FLOAT64, shape, memoryFormat);
    }

    /**
     * Creates a tensor of dtype FLOAT64 over a buffer, in row-major order.
     *
     * @param data the elements, in the whole of a direct buffer, whatever its position and limit are; they are not copied
     * @param shape size of each dimension
     * @return the tensor
     * @throws IllegalArgumentException if the number of elements is not that of the shape
     */
    public static Tensor fromBlob(DoubleBuffer data, long[] shape) {
        return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
    }

    // Metadata.

    /**
     * Returns the number of elements of a shape.
     *
     * @param shape size of each dimension
     * @return the product of the sizes, 1 for none
     * @throws IllegalArgumentException if the shape is null, a size is negative, or the number is too large
     */
    public static long numel(long[] shape) {
        check(shape != null, "the shape is null");
        long numel = 1;
        for (long size : shape) {
            check(size >= 0, "the shape " + Arrays.toString(shape) + " has a negative size");
            check(size == 0 || numel <= Long.MAX_VALUE / size, "the shape " + Arrays.toString(shape) + " has too many elements");
            numel *= size;
        }
        return numel;
    }

    /**
     * Returns the number of elements.
     *
     * @return the number
     */
    public long numel() {
        return numel(shape);
    }

    /**
     * Returns the size of each dimension.
     *
     * @return a copy
     */
    public long[] shape() {
        return shape.clone();
    }

    /**
     * Returns the order of the elements in memory.
     *
     * @return the memory format
     */
    public MemoryFormat memoryFormat() {
        return format;
    }

    /**
     * Returns the data type of the elements.
     *
     * @return the dtype
     */
    public DType dtype() {
        return dtype;
    }

    // Elements.

    private IllegalStateException wrong(String wanted) {
        return new IllegalStateException("a tensor of dtype " + dtype + " has no elements of type " + wanted);
    }

    private int length() {
        return data.capacity();
    }

    /**
     * Copies the elements of a tensor of dtype INT8.
     *
     * @return the elements, in the order of memory
     * @throws IllegalStateException if the tensor is of another dtype
     */
    public byte[] getDataAsByteArray() {
        if (dtype != DType.INT8) {
            throw wrong("INT8");
        }
        byte[] elements = new byte[length()];
        ((ByteBuffer) data).duplicate().clear().get(elements);
        return elements;
    }

    /**
     * Copies the elements of a tensor of dtype UINT8.
     *
     * @return the elements, in the order of memory
     * @throws IllegalStateException if the tensor is of another dtype
     */
    public byte[] getDataAsUnsignedByteArray() {
        if (dtype != DType.UINT8) {
            throw wrong("UINT8");
        }
        byte[] elements = new byte[length()];
        ((ByteBuffer) data).duplicate().clear().get(elements);
        return elements;
    }

    /**
     * Copies the elements of a tensor of dtype INT32.
     *
     * @return the elements, in the order of memory
     * @throws IllegalStateException if the tensor is of another dtype
     */
    public int[] getDataAsIntArray() {
        if (dtype != DType.INT32) {
            throw wrong("INT32");
        }
        int[] elements = new int[length()];
        ((IntBuffer) data).duplicate().clear().get(elements);
        return elements;
    }

    /**
     * Copies the elements of a tensor of dtype FLOAT32.
     *
     * @return the elements, in the order of memory
     * @throws IllegalStateException if the tensor is of another dtype
     */
    public float[] getDataAsFloatArray() {
        if (dtype != DType.FLOAT32) {
            throw wrong("FLOAT32");
        }
        float[] elements = new float[length()];
        ((FloatBuffer) data).duplicate().clear().get(elements);
        return elements;
    }

    /**
     * Copies the elements of a tensor of dtype INT64.
     *
     * @return the elements, in the order of memory
     * @throws IllegalStateException if the tensor is of another dtype
     */
    public long[] getDataAsLongArray() {
        if (dtype != DType.INT64) {
            throw wrong("INT64");
        }
        long[] elements = new long[length()];
        ((LongBuffer) data).duplicate().clear().get(elements);
        return elements;
    }

    /**
     * Copies the elements of a tensor of dtype FLOAT64.
     *
     * @return the elements, in the order of memory
     * @throws IllegalStateException if the tensor is of another dtype
     */
    public double[] getDataAsDoubleArray() {
        if (dtype != DType.FLOAT64) {
            throw wrong("FLOAT64");
        }
        double[] elements = new double[length()];
        ((DoubleBuffer) data).duplicate().clear().get(elements);
        return elements;
    }

    // Conversion.

    /** The tensor of the binding over the same memory, in the innermost scope. */
    org.rushlight.Tensor unwrap() {
        long[] order = format.order(shape.length);
        long[] inMemory = new long[shape.length];
        long[] back = new long[shape.length];
        for (int i = 0; i < shape.length; i++) {
            inMemory[i] = shape[(int) order[i]];
            back[(int) order[i]] = i;
        }
        org.rushlight.Tensor packed = org.rushlight.Tensor.fromBuffer(writable(), dtype.dtype, inMemory);
        return format == MemoryFormat.CONTIGUOUS ? packed : packed.permute(back);
    }

    /** The whole buffer, or a copy of one that is read-only: every tensor can be written. */
    private Buffer writable() {
        Buffer whole = data.duplicate().clear();
        if (!whole.isReadOnly()) {
            return whole;
        }
        Buffer copy = switch (dtype) {
            case UINT8, INT8 -> allocateByteBuffer(length()).put((ByteBuffer) whole);
            case INT32 -> allocateIntBuffer(length()).put((IntBuffer) whole);
            case FLOAT32 -> allocateFloatBuffer(length()).put((FloatBuffer) whole);
            case INT64 -> allocateLongBuffer(length()).put((LongBuffer) whole);
            case FLOAT64 -> allocateDoubleBuffer(length()).put((DoubleBuffer) whole);
        };
        return copy.clear();
    }

    /** A result of the binding. Its memory is shared, or copied if it has gaps or another order. */
    static Tensor wrap(org.rushlight.Tensor result) {
        DType dtype = DType.of(result.dtype());
        MemoryFormat format = MemoryFormat.of(result.suggestMemoryFormat());
        org.rushlight.Tensor dense = result.detach().contiguous(format.format);
        long[] shape = result.shape();
        if (format != MemoryFormat.CONTIGUOUS) {
            dense = dense.permute(format.order(shape.length));
        }
        ByteBuffer bytes = dense.toBuffer();
        Buffer data = switch (dtype) {
            case UINT8, INT8 -> bytes;
            case INT32 -> bytes.asIntBuffer();
            case FLOAT32 -> bytes.asFloatBuffer();
            case INT64 -> bytes.asLongBuffer();
            case FLOAT64 -> bytes.asDoubleBuffer();
        };
        return new Tensor(data, dtype, shape, format);
    }

    /** Returns shape and dtype: {@code Tensor([1, 3], dtype=torch.float32)}. */
    @Override
    public String toString() {
        return "Tensor(" + Arrays.toString(shape) + ", dtype=torch." + dtype.toString().toLowerCase(Locale.ROOT) + ")";
    }
}
