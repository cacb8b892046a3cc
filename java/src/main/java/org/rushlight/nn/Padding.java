package org.rushlight.nn;

/** Padding of a convolution that follows from its other sizes. */
public enum Padding {
    /** No padding. */
    VALID("valid"),
    /** An output of the size of the input. */
    SAME("same");

    /** The word of PyTorch's Python. */
    final String word;

    Padding(String word) {
        this.word = word;
    }
}
