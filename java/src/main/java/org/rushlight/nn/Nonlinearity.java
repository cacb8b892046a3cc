package org.rushlight.nn;

/** Nonlinearity of a plain recurrent layer. */
public enum Nonlinearity {
    /** The hyperbolic tangent. */
    TANH,
    /** The rectified linear unit. */
    RELU
}
