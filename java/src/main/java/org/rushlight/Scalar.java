package org.rushlight;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A number as an argument of operators: bool, integer, real or complex. It is a {@link Number} and is accepted wherever
 * an operator takes a number, as are plain Java numbers.
 */
public final class Scalar extends Number {
    private static final long serialVersionUID = 1;

    static final int NONE = -1;
    static final int BOOL = 0;
    static final int INT = 1;
    static final int UINT = 2;
    static final int FLOAT = 3;
    static final int COMPLEX = 4;

    private static final Scalar ABSENT = new Scalar(NONE, 0, 0);

    /** The kind: one of the constants above. */
    private final int tag;
    /** The integer, or the bits of the (real part of the) number. */
    private final long bits;
    /** The imaginary part. */
    private final double imag;

    private Scalar(int tag, long bits, double imag) {
        this.tag = tag;
        this.bits = bits;
        this.imag = imag;
    }

    /**
     * Creates a boolean scalar.
     *
     * @param value the value
     * @return the scalar
     */
    public static Scalar of(boolean value) {
        return new Scalar(BOOL, value ? 1 : 0, 0);
    }

    /**
     * Creates an integer scalar.
     *
     * @param value the value
     * @return the scalar
     */
    public static Scalar of(long value) {
        return new Scalar(INT, value, 0);
    }

    /**
     * Creates a real scalar.
     *
     * @param value the value
     * @return the scalar
     */
    public static Scalar of(double value) {
        return new Scalar(FLOAT, Double.doubleToRawLongBits(value), 0);
    }

    /**
     * Creates a complex scalar.
     *
     * @param real real part
     * @param imag imaginary part
     * @return the scalar
     */
    public static Scalar complex(double real, double imag) {
        return new Scalar(COMPLEX, Double.doubleToRawLongBits(real), imag);
    }

    /**
     * Converts any Java number: integers (also the atomic ones and {@link BigInteger}) stay integers, the others become
     * real numbers.
     *
     * <pre>{@code
     * System.out.println(Scalar.of(new java.math.BigInteger("18446744073709551615"))); // 18446744073709551615
     * System.out.println(Scalar.of(2.5f)); // 2.5
     * }</pre>
     *
     * @param value the number
     * @return the scalar
     * @throws TensorValueException for an integer of more than 64 bits
     */
    public static Scalar of(Number value) {
        if (value instanceof Scalar scalar) {
            return scalar;
        }
        if (value instanceof Double || value instanceof Float) {
            return of(value.doubleValue());
        }
        if (value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte
                || value instanceof AtomicInteger || value instanceof AtomicLong || value instanceof LongAdder
                || value instanceof LongAccumulator) {
            return of(value.longValue());
        }
        if (value instanceof BigInteger big) {
            if (big.bitLength() > (big.signum() < 0 ? 63 : 64)) {
                throw new TensorValueException("the integer " + big + " does not fit into 64 bits");
            }
            return new Scalar(big.bitLength() == 64 ? UINT : INT, big.longValue(), 0);
        }
        if (value == null) {
            throw new NullPointerException("a number is required, got null");
        }
        return of(value.doubleValue());
    }

    static Scalar ofNullable(@Nullable Number value) {
        return value == null ? ABSENT : of(value);
    }

    /** Called by the native side. */
    static Scalar ofParts(int tag, long bits, double imag) {
        return new Scalar(tag, bits, imag);
    }

    static int[] tags(Number[] values) {
        return Arrays.stream(values).mapToInt(value -> of(value).tag).toArray();
    }

    static long[] bits(Number[] values) {
        return Arrays.stream(values).mapToLong(value -> of(value).bits).toArray();
    }

    static double[] imags(Number[] values) {
        return Arrays.stream(values).mapToDouble(value -> of(value).imag).toArray();
    }

    int tag() {
        return tag;
    }

    long bits() {
        return bits;
    }

    double imag() {
        return imag;
    }

    /**
     * Returns whether this is a complex number.
     *
     * @return true if it was created as a complex number
     */
    public boolean isComplex() {
        return tag == COMPLEX;
    }

    /**
     * Returns whether this is an integer.
     *
     * @return true for integers, false for bool
     */
    public boolean isIntegral() {
        return tag == INT || tag == UINT;
    }

    /** Returns whether this is an integer that only an unsigned 64-bit number can represent. */
    boolean isAboveLong() {
        return tag == UINT && bits < 0;
    }

    /**
     * Returns whether this is a boolean.
     *
     * @return true for bool
     */
    public boolean isBoolean() {
        return tag == BOOL;
    }

    /**
     * Returns whether the value is nonzero.
     *
     * @return false for zero
     */
    public boolean booleanValue() {
        return tag <= UINT ? bits != 0 : real() != 0 || imag != 0;
    }

    /**
     * The imaginary part.
     *
     * @return 0 for a real number
     */
    public double imaginaryValue() {
        return imag;
    }

    private double real() {
        return Double.longBitsToDouble(bits);
    }

    @Override
    public int intValue() {
        return (int) longValue();
    }

    @Override
    public long longValue() {
        return tag <= UINT ? bits : (long) real();
    }

    @Override
    public float floatValue() {
        return (float) doubleValue();
    }

    /** Returns the value as a real number: the real part of a complex one. */
    @Override
    public double doubleValue() {
        return switch (tag) {
            case BOOL, INT -> bits;
            case UINT -> new BigInteger(Long.toUnsignedString(bits)).doubleValue();
            default -> real();
        };
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Scalar that && tag == that.tag && bits == that.bits
            && Double.doubleToLongBits(imag) == Double.doubleToLongBits(that.imag);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(bits) * 31 + Double.hashCode(imag) + tag;
    }

    @Override
    public String toString() {
        return switch (tag) {
            case BOOL -> Boolean.toString(bits != 0);
            case INT -> Long.toString(bits);
            case UINT -> Long.toUnsignedString(bits);
            case FLOAT -> Double.toString(real());
            default -> "(" + real() + "," + imag + ")";
        };
    }
}
