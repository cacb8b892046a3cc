package org.rushlight.internal;

/** Converts arguments of generated operators for the native side. */
public final class Convert {
    private Convert() {}

    /**
     * Returns the number, or 0 for null (a separate flag distinguishes them).
     *
     * @param value a number or null
     * @return the number
     */
    public static long longOrZero(Long value) {
        return value == null ? 0 : value;
    }

    /**
     * Returns the number, or 0 for null (a separate flag distinguishes them).
     *
     * @param value a number or null
     * @return the number
     */
    public static double doubleOrZero(Double value) {
        return value == null ? 0 : value;
    }

    /**
     * Converts an optional boolean to a number.
     *
     * @param value a boolean or null
     * @return -1 for null, 0 for false, 1 for true
     */
    public static int flag(Boolean value) {
        return value == null ? -1 : value ? 1 : 0;
    }
}
