package org.rushlight;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import org.rushlight.internal.NativeCore;

/** The part of {@link Tensor} that creates tensors from values; call it as {@code Tensor.of(...)}. */
public abstract sealed class TensorFactories extends TensorValues permits Tensor {
    TensorFactories(long handle, Runnable release) {
        super(handle, release);
    }

    /**
     * Creates a 0-dim tensor: int64 for an integer (uint64 for one above {@link Long#MAX_VALUE}), bool for a boolean,
     * the default dtype for a real number and the corresponding complex dtype for a complex one.
     *
     * @param value the number
     * @return the tensor
     */
    public static Tensor scalar(Number value) {
        Scalar scalar = Scalar.of(value);
        if (scalar.isBoolean()) {
            return of(new boolean[] {scalar.booleanValue()}, new long[0]);
        }
        if (scalar.isAboveLong()) {
            return Torch.full(new long[0], scalar, TensorOptions.of(DType.UINT64));
        }
        if (scalar.isIntegral()) {
            return of(new long[] {scalar.longValue()}, new long[0]);
        }
        return Torch.full(new long[0], scalar);
    }

    /**
     * Creates a one-dimensional float32 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(float... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates a float32 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(float[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.FLOAT32.code()));
    }

    /**
     * Creates a one-dimensional float64 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(double... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates a float64 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(double[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.FLOAT64.code()));
    }

    /**
     * Creates a one-dimensional int32 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(int... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates an int32 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(int[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.INT32.code()));
    }

    /**
     * Creates a one-dimensional int64 tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(long... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates an int64 tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(long[] values, long[] shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.INT64.code()));
    }

    /**
     * Creates a one-dimensional bool tensor. The values are copied.
     *
     * @param values the elements
     * @return the tensor
     */
    public static Tensor of(boolean... values) {
        return of(values, new long[] {values.length});
    }

    /**
     * Creates a bool tensor. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor of(boolean[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.BOOL.code()));
    }

    /**
     * Creates a uint8 tensor, for example of an image. The values are copied.
     *
     * @param values the elements, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor ofBytes(byte[] values, long... shape) {
        return Tensor.wrap(NativeCore.fromArray(values, shape, DType.UINT8.code()));
    }

    /**
     * Creates a tensor from nested arrays of any depth ({@code double[][]}, {@code long[][][]}), with the dtype of the
     * innermost arrays: {@code byte} is uint8, {@code short} is int16. The values are copied.
     *
     * <pre>{@code
     * Tensor m = Tensor.of(new double[][] {{1, 2, 3}, {4, 5, 6}});
     * System.out.println(m.dtype() + " " + m.size(1)); // torch.float64 3
     * }</pre>
     *
     * @param nested nested arrays; arrays at the same depth have equal lengths
     * @return the tensor
     * @throws TensorTypeException if the innermost elements are not Java numbers or booleans
     * @throws TensorValueException if lengths differ, or an array is missing
     */
    public static Tensor of(Object[] nested) {
        return NestedArrays.tensor(nested);
    }

    /**
     * Creates a complex128 tensor. The values are copied. {@link Tensor#toComplexArray} is the inverse.
     *
     * <pre>{@code
     * System.out.println(Tensor.ofComplex(new double[] {1, 2, 3, -4}, 2)); // tensor([1.+2.j, 3.-4.j], dtype=torch.complex128)
     * }</pre>
     *
     * @param parts real and imaginary part of each element, in row-major order
     * @param shape size of each dimension
     * @return the tensor
     */
    public static Tensor ofComplex(double[] parts, long... shape) {
        long[] ofParts = Arrays.copyOf(shape, shape.length + 1);
        ofParts[shape.length] = 2;
        try (Tensor pairs = of(parts, ofParts)) {
            return Torch.view_as_complex(pairs);
        }
    }

    /**
     * Creates a tensor over the memory of a direct buffer: no copy, both sides see each other's writes. The buffer
     * stays reachable as long as the tensor or a view of it exists. The elements begin at the position of the buffer,
     * in native byte order. Do not free the memory under a reachable buffer (by closing the {@code Arena} of a memory
     * segment, or truncating a mapped file) before the tensor and its views are closed.
     *
     * @param buffer a direct buffer
     * @param dtype element type
     * @param shape size of each dimension
     * @return the tensor
     * @throws TensorValueException if the buffer is not direct, is read-only, is a typed view of another byte order, or
     *     does not begin at a multiple of the size of an element
     */
    public static Tensor fromBuffer(Buffer buffer, DType dtype, long... shape) {
        if (!buffer.isDirect()) {
            throw new TensorValueException("fromBuffer needs a direct buffer; Tensor.of copies arrays");
        }
        if (buffer.isReadOnly()) {
            throw new TensorValueException(
                "fromBuffer needs a buffer that can be written, as every tensor can; copy the read-only one into one of ByteBuffer.allocateDirect");
        }
        ByteOrder order = order(buffer);
        if (order != ByteOrder.nativeOrder()) {
            throw new TensorValueException("fromBuffer: the elements of the " + buffer.getClass().getSuperclass().getSimpleName() + " are "
                + order + ", those of tensors " + ByteOrder.nativeOrder()
                + "; call order(ByteOrder.nativeOrder()) of the ByteBuffer before it is viewed, or copy the elements");
        }
        int unit = buffer instanceof ByteBuffer ? 1
            : buffer instanceof ShortBuffer || buffer instanceof CharBuffer ? 2
            : buffer instanceof IntBuffer || buffer instanceof FloatBuffer ? 4
            : 8;
        long offset = (long) buffer.position() * unit;
        return Tensor.wrap(NativeCore.fromBuffer(buffer, offset, (long) buffer.remaining() * unit, shape, dtype.code()));
    }

    /**
     * The byte order of the elements of a typed view. A byte buffer has none: its order only affects {@code getInt} and
     * similar methods.
     */
    private static ByteOrder order(Buffer buffer) {
        if (buffer instanceof ShortBuffer view) {
            return view.order();
        }
        if (buffer instanceof CharBuffer view) {
            return view.order();
        }
        if (buffer instanceof IntBuffer view) {
            return view.order();
        }
        if (buffer instanceof FloatBuffer view) {
            return view.order();
        }
        if (buffer instanceof LongBuffer view) {
            return view.order();
        }
        if (buffer instanceof DoubleBuffer view) {
            return view.order();
        }
        return ByteOrder.nativeOrder();
    }
}
