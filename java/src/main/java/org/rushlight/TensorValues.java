package org.rushlight;

import java.util.Arrays;
import java.util.List;
import org.rushlight.internal.NativeCore;

/** The part of {@link Tensor} that gives values away: numbers and arrays, answers about them, and copies of other kinds. */
public abstract sealed class TensorValues extends TensorMetadata permits TensorFactories {
    TensorValues(long handle, Runnable release) {
        super(handle, release);
    }

    /**
     * The one element of this tensor.
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
     * The one element as a {@code double}.
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
     * The one element as a {@code float}.
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
     * The one element as a {@code long}; what follows the point is dropped.
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
     * The one element as an {@code int}; what follows the point is dropped.
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
     * The one element as a truth value.
     *
     * @return true unless it is zero
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
     * Is the one element different from zero?
     *
     * @return true unless zero
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
     * The same sizes and the same numbers? NaN equals nothing.
     *
     * @param other another tensor
     * @return true if so
     */
    public boolean equal(Tensor other) {
        if (!Arrays.equals(self().shape(), other.shape())) {
            return false;
        }
        try (Tensor same = self().eq(other); Tensor all = same.all()) {
            return all.isNonzero();
        }
    }

    /**
     * Are all numbers near those of another tensor, {@code |a - b| <= 1e-8 + 1e-5 |b|}?
     *
     * @param other another tensor
     * @return true if so
     */
    public boolean allclose(Tensor other) {
        return allclose(other, 1e-5, 1e-8, false);
    }

    /**
     * Are all numbers near those of another tensor, {@code |a - b| <= atol + rtol |b|}?
     *
     * @param other another tensor
     * @param rtol what is allowed for each unit of the other number
     * @param atol what is allowed in any case
     * @param equalNan does NaN equal NaN?
     * @return true if so
     */
    public boolean allclose(Tensor other, double rtol, double atol, boolean equalNan) {
        try (Tensor near = self().isclose(other, rtol, atol, equalNan); Tensor all = near.all()) {
            return all.isNonzero();
        }
    }

    /**
     * This tensor on another device.
     *
     * @param device where to
     * @return a copy there, or this tensor's elements where they are there
     */
    public Tensor to(Device device) {
        return self().to(TensorOptions.of(device));
    }

    /**
     * This tensor in host memory.
     *
     * @return a copy there, or this tensor's elements where they are there
     */
    public Tensor cpu() {
        return to(Device.CPU);
    }

    /**
     * This tensor on the current GPU.
     *
     * @return a copy there
     * @throws RushlightException if there is none
     */
    public Tensor cuda() {
        return to(new Device(Device.Type.CUDA, -1));
    }

    /**
     * This tensor without data.
     *
     * @return its shape and dtype
     */
    public Tensor meta() {
        return to(Device.META);
    }

    /**
     * This tensor with the dtype and on the device of another one.
     *
     * @param other another tensor
     * @return a copy, or this tensor's elements where both are the same already
     */
    public Tensor type_as(Tensor other) {
        return self().to(other.options());
    }

    /**
     * A copy of the elements of a float32 tensor.
     *
     * @return the elements, in row-major order
     */
    public float[] toFloatArray() {
        float[] array = new float[count("toFloatArray", DType.FLOAT32)];
        copyTo(array);
        return array;
    }

    /**
     * A copy of the elements of a float64 tensor.
     *
     * @return the elements, in row-major order
     */
    public double[] toDoubleArray() {
        double[] array = new double[count("toDoubleArray", DType.FLOAT64)];
        copyTo(array);
        return array;
    }

    /**
     * A copy of the elements of an int64 tensor.
     *
     * @return the elements, in row-major order
     */
    public long[] toLongArray() {
        long[] array = new long[count("toLongArray", DType.INT64)];
        copyTo(array);
        return array;
    }

    /**
     * A copy of the elements of an int32 tensor.
     *
     * @return the elements, in row-major order
     */
    public int[] toIntArray() {
        int[] array = new int[count("toIntArray", DType.INT32)];
        copyTo(array);
        return array;
    }

    /**
     * A copy of the elements of a uint8 or int8 tensor.
     *
     * @return the elements, in row-major order
     */
    public byte[] toByteArray() {
        byte[] array = new byte[count("toByteArray", DType.UINT8, DType.INT8)];
        copyTo(array);
        return array;
    }

    /**
     * A copy of the elements of an int16 tensor, or of the bits of one of the other two-byte dtypes.
     *
     * @return the elements, in row-major order
     */
    public short[] toShortArray() {
        short[] array = new short[count("toShortArray", DType.INT16, DType.UINT16, DType.FLOAT16, DType.BFLOAT16)];
        copyTo(array);
        return array;
    }

    /**
     * A copy of the elements of a bool tensor.
     *
     * @return the elements, in row-major order
     */
    public boolean[] toBooleanArray() {
        boolean[] array = new boolean[count("toBooleanArray", DType.BOOL)];
        copyTo(array);
        return array;
    }

    /**
     * A copy of the elements of a complex tensor: of each the real and the imaginary part. {@link Tensor#ofComplex} is the way back.
     *
     * @return twice as many numbers as there are elements, in row-major order
     */
    public double[] toComplexArray() {
        if (!self().isComplex()) {
            throw new TensorTypeException("toComplexArray needs a complex tensor, got " + self().dtype());
        }
        try (Tensor wide = self().to(DType.COMPLEX128)) {
            double[] pairs = new double[wide.length("toComplexArray", 2)];
            wide.copyPairs(pairs);
            return pairs;
        }
    }

    /** Number of elements for an array, after checking that the dtype fits it. */
    private int count(String method, DType... accepted) {
        DType dtype = self().dtype();
        if (!List.of(accepted).contains(dtype)) {
            String advice = dtype.isComplex() ? "toComplexArray() has real and imaginary parts"
                : "to(DType." + accepted[0].name() + ") converts";
            throw new TensorTypeException(method + " needs a tensor of dtype " + accepted[0] + ", got " + dtype + "; " + advice);
        }
        return self().length(method, 1);
    }

    /** Length of an array with some numbers for each element. */
    final int length(String method, int numbers) {
        long numel = self().numel();
        if (numel > (Integer.MAX_VALUE - 8) / numbers) {
            throw new TensorValueException(method + ": " + numel + " elements do not fit into a Java array");
        }
        return (int) numel * numbers;
    }

    private void copyTo(Object array) {
        Tensor.acquire(self());
        try {
            NativeCore.toArray(self().handle(), array);
        } finally {
            Tensor.release(self());
        }
    }

    /** The parts of a complex128 tensor, for printing. */
    void copyPairs(double[] pairs) {
        copyTo(pairs);
    }
}
