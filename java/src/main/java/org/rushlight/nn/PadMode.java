package org.rushlight.nn;

/** Values that {@link Functional#pad} adds. */
public enum PadMode {
    /** A constant. */
    CONSTANT("constant"),
    /** The reflection of the input, without its edge. */
    REFLECT("reflect"),
    /** The nearest element of the input. */
    REPLICATE("replicate"),
    /** The input, repeated. */
    CIRCULAR("circular");

    /** The word of PyTorch's Python. */
    final String word;

    PadMode(String word) {
        this.word = word;
    }
}
