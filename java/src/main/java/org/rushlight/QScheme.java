package org.rushlight;

/** How the integers of a quantized tensor represent numbers. */
public enum QScheme {
    /** One scale and zero point for all elements. */
    PER_TENSOR_AFFINE(0),
    /** A scale and an integer zero point for each index of one dimension. */
    PER_CHANNEL_AFFINE(1),
    /** One scale for all elements; the zero point is 0. */
    PER_TENSOR_SYMMETRIC(2),
    /** A scale for each index of one dimension; the zero points are 0. */
    PER_CHANNEL_SYMMETRIC(3),
    /** A scale and a floating-point zero point for each index of one dimension. */
    PER_CHANNEL_AFFINE_FLOAT_QPARAMS(4);

    private final int code;

    QScheme(int code) {
        this.code = code;
    }

    /**
     * Returns the frozen code of this scheme.
     *
     * @return c10's code
     */
    public int code() {
        return code;
    }

    static QScheme of(int code) {
        for (QScheme scheme : values()) {
            if (scheme.code == code) {
                return scheme;
            }
        }
        throw new IllegalArgumentException("unknown quantization scheme number " + code);
    }
}
