package org.rushlight;

import java.util.List;
import org.rushlight.internal.NativeCore;

/** The part of {@link Tensor} that returns values: numbers, arrays, comparisons, and conversions. */
public abstract sealed class TensorValues extends TensorMetadata permits Tensor {
    TensorValues(long handle, Runnable release) {
        super(handle, release);
    }

    /**
     * Returns the value of a tensor with exactly one element.
     *
     * @return its value
     * @throws RushlightException if there is not exactly one element
     */
    public Scalar item() {
        Tensor.acquire(self());
        try {
            return (Scalar) NativeCore.item(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Returns the only element as a {@code double}.
     *
     * <pre>{@code
     * double value = Tensor.of(1f, 2f).sum().itemDouble();
     * System.out.println(value); // 3.0
     * }</pre>
     *
     * @return its value
     * @throws RushlightException if there is not exactly one element, or it has an imaginary part
     */
    public double itemDouble() {
        return real("double").doubleValue();
    }

    /**
     * Returns the only element as a {@code float}.
     *
     * @return its value, rounded
     * @throws RushlightException if there is not exactly one element, or it has an imaginary part or is too large
     */
    public float itemFloat() {
        double value = real("float").doubleValue();
        if (Double.isFinite(value) && Math.abs(value) > Float.MAX_VALUE) {
            throw doesNotFit("float");
        }
        return (float) value;
    }

    /**
     * Returns the only element as a {@code long}, truncated.
     *
     * @return its value
     * @throws RushlightException if there is not exactly one element, or it has an imaginary part or does not fit
     */
    public long itemLong() {
        Scalar item = real("long");
        double value = item.doubleValue();
        boolean fits = item.isIntegral() || item.isBoolean() ? !item.isAboveLong() : value >= -0x1p63 && value < 0x1p63;
        if (!fits) {
            throw doesNotFit("long");
        }
        return item.longValue();
    }

    /**
     * Returns the only element as an {@code int}, truncated.
     *
     * @return its value
     * @throws RushlightException if there is not exactly one element, or it has an imaginary part or does not fit
     */
    public int itemInt() {
        long value = itemLong();
        if ((int) value != value) {
            throw doesNotFit("int");
        }
        return (int) value;
    }

    /**
     * Returns the only element as a boolean.
     *
     * @return false for zero
     * @throws RushlightException if there is not exactly one element
     */
    public boolean itemBoolean() {
        return item().booleanValue();
    }

    private Scalar real(String type) {
        Scalar item = item();
        if (item.imaginaryValue() != 0) {
            throw doesNotFit(type);
        }
        return item;
    }

    private static RushlightException doesNotFit(String type) {
        return new TensorValueException("value cannot be converted to type " + type + " without overflow");
    }

    /**
     * Returns whether the only element is nonzero.
     *
     * @return false for zero
     * @throws RushlightException if there is not exactly one element
     */
    public boolean isNonzero() {
        long numel = self().numel();
        if (numel != 1) {
            String many = numel == 0 ? "no values" : "more than one value";
            throw new RushlightException("Boolean value of Tensor with " + many + " is ambiguous");
        }
        return itemBoolean();
    }

    /**
     * Returns this tensor on another device.
     *
     * @param device the device
     * @return a copy on the device, or a tensor that shares the elements if they are there
     */
    public Tensor to(Device device) {
        return self().to(TensorOptions.of(device));
    }

    /**
     * Returns this tensor in host memory.
     *
     * @return a copy on the device, or a tensor that shares the elements if they are there
     */
    public Tensor cpu() {
        return to(Device.CPU);
    }

    /**
     * Returns this tensor on the current GPU.
     *
     * @return a copy on the GPU
     * @throws RushlightException if there is none
     */
    public Tensor cuda() {
        return to(new Device(Device.Type.CUDA, -1));
    }

    /**
     * Returns this tensor on the meta device.
     *
     * @return a tensor with its shape and dtype, without data
     */
    public Tensor meta() {
        return to(Device.META);
    }

    /**
     * Returns this tensor with the dtype and device of another one.
     *
     * @param other another tensor
     * @return a copy, or a tensor that shares the elements if both are the same already
     */
    public Tensor typeAs(Tensor other) {
        return self().to(other.options());
    }

    /**
     * Copies the elements of a float32 tensor.
     *
     * @return the elements, in row-major order
     */
    public float[] toFloatArray() {
        float[] array = new float[count("toFloatArray", DType.FLOAT32)];
        copyTo(array);
        return array;
    }

    /**
     * Copies the elements of a float64 tensor.
     *
     * @return the elements, in row-major order
     */
    public double[] toDoubleArray() {
        double[] array = new double[count("toDoubleArray", DType.FLOAT64)];
        copyTo(array);
        return array;
    }

    /**
     * Copies the elements of an int64 tensor.
     *
     * @return the elements, in row-major order
     */
    public long[] toLongArray() {
        long[] array = new long[count("toLongArray", DType.INT64)];
        copyTo(array);
        return array;
    }

    /**
     * Copies the elements of an int32 tensor.
     *
     * @return the elements, in row-major order
     */
    public int[] toIntArray() {
        int[] array = new int[count("toIntArray", DType.INT32)];
        copyTo(array);
        return array;
    }

    /**
     * Copies the elements of a uint8 or int8 tensor.
     *
     * @return the elements, in row-major order
     */
    public byte[] toByteArray() {
        byte[] array = new byte[count("toByteArray", DType.UINT8, DType.INT8)];
        copyTo(array);
        return array;
    }

    /**
     * Copies the elements of an int16 tensor, or the bits of another two-byte dtype.
     *
     * @return the elements, in row-major order
     */
    public short[] toShortArray() {
        short[] array = new short[count("toShortArray", DType.INT16, DType.UINT16, DType.FLOAT16, DType.BFLOAT16)];
        copyTo(array);
        return array;
    }

    /**
     * Copies the elements of a bool tensor.
     *
     * @return the elements, in row-major order
     */
    public boolean[] toBooleanArray() {
        boolean[] array = new boolean[count("toBooleanArray", DType.BOOL)];
        copyTo(array);
        return array;
    }

    /**
     * Copies the elements of a complex tensor: real and imaginary part of each. {@link Tensor#ofComplex} is the
     * inverse.
     *
     * @return twice as many numbers as there are elements, in row-major order
     */
    public double[] toComplexArray() {
        if (!self().isComplex()) {
            throw new TensorTypeException("toComplexArray needs a complex tensor, got " + self().dtype());
        }
        try (Tensor wide = self().to(DType.COMPLEX128)) {
            double[] pairs = new double[wide.length("toComplexArray", 2)];
            wide.copyTo(pairs);
            return pairs;
        }
    }

    /** Returns the number of elements for an array, after checking that the dtype matches. */
    private int count(String method, DType... accepted) {
        DType dtype = self().dtype();
        if (!List.of(accepted).contains(dtype)) {
            String advice = dtype.isComplex() ? "toComplexArray() has real and imaginary parts"
                : "to(DType." + accepted[0].name() + ") converts";
            throw new TensorTypeException(method + " needs a tensor of dtype " + accepted[0] + ", got " + dtype + "; " + advice);
        }
        return self().length(method, 1);
    }

    /** Returns the length of an array with several numbers per element. */
    final int length(String method, int numbers) {
        long numel = self().numel();
        if (numel > (Integer.MAX_VALUE - 8) / numbers) {
            throw new TensorValueException(method + ": " + numel + " elements do not fit into a Java array");
        }
        return (int) numel * numbers;
    }

    final void copyTo(Object array) {
        Tensor.acquire(self());
        try {
            NativeCore.toArray(self().handle(), array);
        } finally {
            Tensor.release(self());
        }
    }
}
