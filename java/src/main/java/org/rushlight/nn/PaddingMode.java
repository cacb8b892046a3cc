package org.rushlight.nn;

/** Values outside of the input of a convolution. */
public enum PaddingMode {
    /** Zeros: the default. */
    ZEROS("zeros"),
    /** The reflection of the input, without its edge. */
    REFLECT("reflect"),
    /** The nearest element of the input. */
    REPLICATE("replicate"),
    /** The input, repeated. */
    CIRCULAR("circular");

    /** The word of PyTorch's Python. */
    final String word;

    PaddingMode(String word) {
        this.word = word;
    }
}
