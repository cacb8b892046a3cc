package org.rushlight;

import org.jspecify.annotations.Nullable;

/**
 * Data type of the elements of a tensor. The codes are those of {@code c10::ScalarType}, which files and scripts
 * contain.
 *
 * <pre>{@code
 * System.out.println(DType.BFLOAT16 + " " + DType.BFLOAT16.size()); // torch.bfloat16 2
 * }</pre>
 */
public enum DType {
    /** Unsigned 8-bit integer. */
    UINT8(0, 1, "uint8"),
    /** Signed 8-bit integer. */
    INT8(1, 1, "int8"),
    /** Signed 16-bit integer. */
    INT16(2, 2, "int16"),
    /** Signed 32-bit integer. */
    INT32(3, 4, "int32"),
    /** Signed 64-bit integer. */
    INT64(4, 8, "int64"),
    /** IEEE half precision. */
    FLOAT16(5, 2, "float16"),
    /** IEEE single precision: the default. */
    FLOAT32(6, 4, "float32"),
    /** IEEE double precision. */
    FLOAT64(7, 8, "float64"),
    /** Complex with two half-precision parts. */
    COMPLEX32(8, 4, "complex32"),
    /** Complex with two single-precision parts. */
    COMPLEX64(9, 8, "complex64"),
    /** Complex with two double-precision parts. */
    COMPLEX128(10, 16, "complex128"),
    /** Boolean, stored as one byte, 0 or 1. */
    BOOL(11, 1, "bool"),
    /** Signed 8-bit integer with a quantizer. */
    QINT8(12, 1, "qint8"),
    /** Unsigned 8-bit integer with a quantizer. */
    QUINT8(13, 1, "quint8"),
    /** Signed 32-bit integer with a quantizer. */
    QINT32(14, 4, "qint32"),
    /** Brain floating point: bfloat16. */
    BFLOAT16(15, 2, "bfloat16"),
    /** Unsigned 16-bit integer. */
    UINT16(27, 2, "uint16"),
    /** Unsigned 32-bit integer. */
    UINT32(28, 4, "uint32"),
    /** Unsigned 64-bit integer. */
    UINT64(29, 8, "uint64");

    private final int code;
    private final int size;
    private final String torchName;

    DType(int code, int size, String torchName) {
        this.code = code;
        this.size = size;
        this.torchName = torchName;
    }

    /**
     * Returns the frozen code of this dtype.
     *
     * @return c10's code
     */
    public int code() {
        return code;
    }

    /**
     * Returns the number of bytes per element.
     *
     * @return the size in bytes
     */
    public int size() {
        return size;
    }

    /**
     * Returns whether this is a real floating-point dtype.
     *
     * @return true for float16, bfloat16, float32 and float64
     */
    public boolean isFloatingPoint() {
        return this == FLOAT16 || this == FLOAT32 || this == FLOAT64 || this == BFLOAT16;
    }

    /**
     * Returns whether this is a complex dtype.
     *
     * @return true for complex32, complex64 and complex128
     */
    public boolean isComplex() {
        return this == COMPLEX32 || this == COMPLEX64 || this == COMPLEX128;
    }

    /**
     * Returns whether this dtype can represent negative numbers.
     *
     * @return false for bool and the unsigned integers
     */
    public boolean isSigned() {
        return switch (this) {
            case BOOL, UINT8, UINT16, UINT32, UINT64 -> false;
            default -> true;
        };
    }

    /**
     * Returns the dtype with the given code.
     *
     * @param code c10's code
     * @return the dtype
     * @throws IllegalArgumentException if no dtype has this code
     */
    public static DType of(int code) {
        for (DType dtype : values()) {
            if (dtype.code == code) {
                return dtype;
            }
        }
        throw new IllegalArgumentException("dtype number " + code + " is not supported");
    }

    static int codeOf(@Nullable DType dtype) {
        return dtype == null ? -1 : dtype.code;
    }

    /** Returns PyTorch's name: {@code torch.float32}. */
    @Override
    public String toString() {
        return "torch." + torchName;
    }
}
