package org.pytorch;

/** Data type of the elements of a {@link Tensor}. */
public enum DType {
    /** Unsigned integers of 8 bits. */
    UINT8(1, org.rushlight.DType.UINT8),
    /** Integers of 8 bits. */
    INT8(2, org.rushlight.DType.INT8),
    /** Integers of 32 bits. */
    INT32(3, org.rushlight.DType.INT32),
    /** Floating-point numbers of 32 bits. */
    FLOAT32(4, org.rushlight.DType.FLOAT32),
    /** Integers of 64 bits. */
    INT64(5, org.rushlight.DType.INT64),
    /** Floating-point numbers of 64 bits. */
    FLOAT64(6, org.rushlight.DType.FLOAT64);

    /** The number of this dtype in PyTorch's Java API. */
    public final int jniCode;

    /** The same dtype of the binding. */
    final org.rushlight.DType dtype;

    DType(int jniCode, org.rushlight.DType dtype) {
        this.jniCode = jniCode;
        this.dtype = dtype;
    }

    static DType of(org.rushlight.DType dtype) {
        for (DType candidate : values()) {
            if (candidate.dtype == dtype) {
                return candidate;
            }
        }
        throw new IllegalArgumentException("a tensor of dtype " + dtype + " has no form in org.pytorch");
    }
}
