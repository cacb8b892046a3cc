package org.rushlight.nn;

/** Interpolation of {@link Functional#gridSample}. */
public enum GridSampleMode {
    /** Linear in each dimension: the default. */
    BILINEAR,
    /** The nearest pixel. */
    NEAREST,
    /** Bicubic, for inputs with 4 dimensions. */
    BICUBIC
}
