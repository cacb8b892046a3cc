package org.rushlight.nn;

/** The function of plain recurrent layers. */
public enum Nonlinearity {
    /** The hyperbolic tangent. */
    TANH,
    /** The positive part. */
    RELU
}
