package org.rushlight.nn;

/** Values outside of the input of {@link Functional#gridSample}. */
public enum GridSamplePadding {
    /** Zeros: the default. */
    ZEROS,
    /** The nearest pixel of the border. */
    BORDER,
    /** The reflection at the border. */
    REFLECTION
}
