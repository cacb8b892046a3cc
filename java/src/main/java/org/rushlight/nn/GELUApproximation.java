package org.rushlight.nn;

/** Formulas of {@link GELU}. */
public enum GELUApproximation {
    /** The exact function: the default. */
    NONE("none"),
    /** {@code 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))}. */
    TANH("tanh");

    /** The word of PyTorch's Python. */
    final String word;

    GELUApproximation(String word) {
        this.word = word;
    }
}
