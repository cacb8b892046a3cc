package org.rushlight.nn;

/** Algorithms of {@link Upsample} and {@link Functional#interpolate}. */
public enum InterpolationMode {
    /** The nearest pixel, by rounding down: the default. */
    NEAREST("nearest"),
    /** The nearest pixel, as Pillow and scikit-image compute it. */
    NEAREST_EXACT("nearest-exact"),
    /** Linear, for inputs with 3 dimensions. */
    LINEAR("linear"),
    /** Bilinear, for inputs with 4 dimensions. */
    BILINEAR("bilinear"),
    /** Bicubic, for inputs with 4 dimensions. */
    BICUBIC("bicubic"),
    /** Trilinear, for inputs with 5 dimensions. */
    TRILINEAR("trilinear"),
    /** The mean of the pixels of an area. */
    AREA("area");

    /** The word of PyTorch's Python. */
    final String word;

    InterpolationMode(String word) {
        this.word = word;
    }
}
