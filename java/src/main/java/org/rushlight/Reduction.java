package org.rushlight;

/**
 * How a loss reduces the losses of the elements.
 *
 * <pre>{@code
 * System.out.println(Functional.l1Loss(Tensor.of(1f, 2f), Tensor.of(0f, 0f), Reduction.SUM)); // tensor(3.)
 * }</pre>
 */
public enum Reduction {
    /** No reduction: one loss per element. */
    NONE,
    /** The (weighted) mean of the losses: the default. */
    MEAN,
    /** The sum of the losses. */
    SUM,
    /** The sum divided by the size of the first dimension, for {@link org.rushlight.nn.KLDivLoss} only. */
    BATCH_MEAN;

    /**
     * Returns the number that stands for the reduction in calls of operators ({@link Torch#l1Loss} and similar).
     *
     * @return the number
     * @throws TensorValueException for {@link #BATCH_MEAN}, which no operator has
     */
    public long code() {
        if (this == BATCH_MEAN) {
            throw new TensorValueException("batchmean is not a valid value for reduction");
        }
        return ordinal();
    }
}
