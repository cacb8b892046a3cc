package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Packed sequences of different lengths, ordered by time step, the longest sequence first: the result of {@link
 * Utils#packPaddedSequence}.
 *
 * <pre>{@code
 * Tensor padded = Torch.ones(3, 2, 4); // two sequences of at most three steps
 * PackedSequence packed = Utils.packPaddedSequence(padded, Tensor.of(3L, 1L));
 * System.out.println(packed.batchSizes()); // tensor([2, 1, 1])
 * }</pre>
 *
 * @param data elements of all time steps
 * @param batchSizes number of sequences at each time step
 * @param sortedIndices the order in which the sequences are stored; null if they were already sorted
 * @param unsortedIndices the inverse of {@code sortedIndices}; null if they were already sorted
 */
public record PackedSequence(
        Tensor data, Tensor batchSizes, @Nullable Tensor sortedIndices, @Nullable Tensor unsortedIndices) {
    /** Returns the number of sequences. */
    long batch() {
        try (Tensor first = batchSizes.select(0, 0)) {
            return first.item().longValue();
        }
    }

    /** Returns the same sequences with other data. */
    PackedSequence with(Tensor steps) {
        return new PackedSequence(steps, batchSizes, sortedIndices, unsortedIndices);
    }

    /** Reorders a state to the order of the packed sequences. */
    @Nullable Tensor sorted(@Nullable Tensor state) {
        return state == null || sortedIndices == null ? state : state.indexSelect(1, sortedIndices);
    }

    /** Reorders a state to the original order of the sequences. */
    Tensor unsorted(Tensor state) {
        return unsortedIndices == null ? state : state.indexSelect(1, unsortedIndices);
    }
}
