package org.rushlight;

import org.jspecify.annotations.Nullable;

/**
 * An entry of an index, as in {@code t[1, 2:5, ..., None]}: see {@link Tensor#get(Index...)}.
 *
 * <pre>{@code
 * Tensor t = Torch.arange(12).view(3, 4);
 * System.out.println(t.get(Index.at(1), Index.slice(1, 3)));     // tensor([5, 6])
 * System.out.println(t.get(Index.ALL, Index.slice(null, null, 3)).shape()[1]); // 2
 * System.out.println(t.get(Index.at(t.gt(9))));                  // tensor([10, 11])
 * System.out.println(t.get(Index.at(Tensor.of(2L, 0L)), Index.at(0))); // tensor([8, 0])
 * t.set(0, Index.ELLIPSIS, Index.slice(1, null));
 * System.out.println(t.sum());                                   // tensor(12)
 * }</pre>
 */
public sealed interface Index {
    /** All dimensions that no other entry indexes: {@code ...}. */
    Index ELLIPSIS = new Ellipsis();
    /** A new dimension of size 1. */
    Index NONE = new None();
    /** A whole dimension: {@code :}. */
    Index ALL = new Slice(null, null, 1);

    /**
     * A single position: removes the dimension.
     *
     * @param position the position; negative counts from the end
     * @return the entry
     */
    static Index at(long position) {
        return new At(position);
    }

    /**
     * Several positions, or a mask.
     *
     * @param places integers, which index one dimension (a 0-dim tensor acts as {@link #at(long)}); or booleans, a mask
     *     over as many dimensions as it has
     * @return the entry
     */
    static Index at(Tensor places) {
        return new Places(places);
    }

    /**
     * All or nothing, in a new dimension.
     *
     * @param all true for all
     * @return the entry
     */
    static Index at(boolean all) {
        return new Bool(all);
    }

    /**
     * The positions from {@code start} to before {@code end}.
     *
     * @param start first position, or null for the beginning
     * @param end position after the last, or null for the end
     * @return the entry
     * @throws TensorTypeException if a number is not an integer
     */
    static Index slice(@Nullable Number start, @Nullable Number end) {
        return slice(start, end, 1);
    }

    /**
     * Every {@code step}-th position from {@code start} to before {@code end}.
     *
     * @param start first position, or null for the beginning
     * @param end position after the last, or null for the end
     * @param step at least 1
     * @return the entry
     * @throws TensorTypeException if a number is not an integer
     * @throws TensorValueException if the step is less than 1
     */
    static Index slice(@Nullable Number start, @Nullable Number end, long step) {
        return new Slice(position("start", start), position("end", end), step);
    }

    private static @Nullable Long position(String name, @Nullable Number number) {
        if (number != null && !Scalar.of(number).isIntegral()) {
            throw new TensorTypeException("slice indices must be integers or null, got " + name + " = " + number);
        }
        return number == null ? null : number.longValue();
    }

    /**
     * One position.
     *
     * @param position the position; negative counts from the end
     */
    record At(long position) implements Index {}

    /**
     * Several positions, or a mask.
     *
     * @param places integers or booleans
     */
    record Places(Tensor places) implements Index {}

    /**
     * All or nothing.
     *
     * @param all true for all
     */
    record Bool(boolean all) implements Index {}

    /**
     * A range of positions.
     *
     * @param start first position, or null for the beginning
     * @param end position after the last, or null for the end
     * @param step the step
     */
    record Slice(@Nullable Long start, @Nullable Long end, long step) implements Index {
        /**
         * Checks the step.
         *
         * @param start first position, or null for the beginning
         * @param end position after the last, or null for the end
         * @param step at least 1
         * @throws TensorValueException if the step is less than 1
         */
        public Slice {
            if (step < 1) {
                throw new TensorValueException(step == 0 ? "slice step cannot be zero" : "step must be greater than zero");
            }
        }
    }

    /** {@link #ELLIPSIS}. */
    record Ellipsis() implements Index {}

    /** {@link #NONE}. */
    record None() implements Index {}
}
