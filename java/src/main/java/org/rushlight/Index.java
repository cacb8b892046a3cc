package org.rushlight;

import org.jspecify.annotations.Nullable;

/** One entry of an index, as in {@code t[1, 2:5, ..., None]}: see {@link Tensor#get(Index...)}. */
public sealed interface Index {
    /** Every dimension that no other entry names. */
    Index ELLIPSIS = new Rest();
    /** A new dimension of size 1. */
    Index NEW_AXIS = new NewAxis();
    /** A whole dimension. */
    Index ALL = new Slice(null, null, 1);

    /**
     * One position: the dimension goes away.
     *
     * @param position position, negative counts from the end
     * @return the entry
     */
    static Index at(long position) {
        return new At(position);
    }

    /**
     * The positions from {@code start} to before {@code end}.
     *
     * @param start first position
     * @param end position after the last
     * @return the entry
     */
    static Index slice(long start, long end) {
        return new Slice(start, end, 1);
    }

    /**
     * Every {@code step}-th position from {@code start} to before {@code end}.
     *
     * @param start first position, or null for the beginning
     * @param end position after the last, or null for the end
     * @param step at least 1
     * @return the entry
     */
    static Index slice(@Nullable Long start, @Nullable Long end, long step) {
        return new Slice(start, end, step);
    }

    /**
     * One position.
     *
     * @param position position, negative counts from the end
     */
    record At(long position) implements Index {}

    /**
     * A range of positions.
     *
     * @param start first position, or null for the beginning
     * @param end position after the last, or null for the end
     * @param step distance
     */
    record Slice(@Nullable Long start, @Nullable Long end, long step) implements Index {}

    /** {@link #ELLIPSIS}. */
    record Rest() implements Index {}

    /** {@link #NEW_AXIS}. */
    record NewAxis() implements Index {}
}
