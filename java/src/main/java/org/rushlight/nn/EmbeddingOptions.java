package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * What {@link Embedding} and {@link EmbeddingBag} do.
 *
 * @param <O> the options themselves
 */
abstract class EmbeddingOptions<O extends EmbeddingOptions<O>> extends ModuleOptions<O> {
    final long numEmbeddings;
    final long embeddingDim;
    @Nullable Long paddingIdx;
    @Nullable Double maxNorm;
    double normType = 2;
    boolean scaleGradByFreq = false;
    boolean sparse = false;
    @Nullable Tensor weight;

    EmbeddingOptions(long numEmbeddings, long embeddingDim) {
        this.numEmbeddings = numEmbeddings;
        this.embeddingDim = embeddingDim;
    }

    /**
     * Sets paddingIdx: row that has no gradient and is zero at first; negative numbers count from the end.
     *
     * @param value row that has no gradient and is zero at first; negative numbers count from the end
     * @return the changed options
     */
    public O withPaddingIdx(long value) {
        return with(options -> options.paddingIdx = value);
    }

    /**
     * Sets maxNorm: rows of a larger norm are scaled down to it, in the table itself.
     *
     * @param value rows of a larger norm are scaled down to it, in the table itself
     * @return the changed options
     */
    public O withMaxNorm(double value) {
        return with(options -> options.maxNorm = value);
    }

    /**
     * Sets normType: degree of that norm.
     *
     * @param value degree of that norm
     * @return the changed options
     */
    public O withNormType(double value) {
        return with(options -> options.normType = value);
    }

    /**
     * Sets scaleGradByFreq: divide gradients by how often an index is in the batch.
     *
     * @param value divide gradients by how often an index is in the batch
     * @return the changed options
     */
    public O withScaleGradByFreq(boolean value) {
        return with(options -> options.scaleGradByFreq = value);
    }

    /**
     * Sets sparse: ask for a sparse gradient.
     *
     * @param value ask for a sparse gradient
     * @return the changed options
     */
    public O withSparse(boolean value) {
        return with(options -> options.sparse = value);
    }

    /**
     * Sets weight: a table that is there already.
     *
     * @param value a table that is there already
     * @return the changed options
     */
    public O withWeight(Tensor value) {
        return with(options -> options.weight = value);
    }
}
