package org.rushlight.internal;

/** Values as they cross the border: what generated operators call. */
public final class Convert {
    private Convert() {}

    /**
     * The number, or 0 for null (a flag of its own says which).
     *
     * @param value a number or null
     * @return the number
     */
    public static long longOrZero(Long value) {
        return value == null ? 0 : value;
    }

    /**
     * The number, or 0 for null (a flag of its own says which).
     *
     * @param value a number or null
     * @return the number
     */
    public static double doubleOrZero(Double value) {
        return value == null ? 0 : value;
    }

    /**
     * An optional truth value as a number.
     *
     * @param value a truth value or null
     * @return -1 for null, 0, 1
     */
    public static int flag(Boolean value) {
        return value == null ? -1 : value ? 1 : 0;
    }
}
