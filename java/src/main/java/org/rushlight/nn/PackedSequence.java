package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * The steps of sequences one after the other, each with the sequences that are long enough, the longest sequence first: what
 * {@link Utils#packPaddedSequence} makes.
 *
 * <pre>{@code
 * Tensor padded = Torch.ones(3, 2, 4); // two sequences of at most three steps
 * PackedSequence packed = Utils.packPaddedSequence(padded, Tensor.of(3L, 1L));
 * System.out.println(packed.batchSizes()); // tensor([2, 1, 1])
 * }</pre>
 *
 * @param data the steps
 * @param batchSizes how many sequences have each step
 * @param sortedIndices the order in which the sequences stand; null where they were sorted already
 * @param unsortedIndices where each sequence went; null where they were sorted already
 */
public record PackedSequence(
        Tensor data, Tensor batchSizes, @Nullable Tensor sortedIndices, @Nullable Tensor unsortedIndices) {
    /** Number of sequences. */
    long batch() {
        try (Tensor first = batchSizes.select(0, 0)) {
            return first.item().longValue();
        }
    }

    /** The same sequences with other steps. */
    PackedSequence with(Tensor steps) {
        return new PackedSequence(steps, batchSizes, sortedIndices, unsortedIndices);
    }

    /** A state in the order of the packed sequences. */
    @Nullable Tensor sorted(@Nullable Tensor state) {
        return state == null || sortedIndices == null ? state : state.index_select(1, sortedIndices);
    }

    /** A state in the order that the sequences had before. */
    Tensor unsorted(Tensor state) {
        return unsortedIndices == null ? state : state.index_select(1, unsortedIndices);
    }
}
