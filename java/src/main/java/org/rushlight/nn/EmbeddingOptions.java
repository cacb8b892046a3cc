package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Options of {@link Embedding} and {@link EmbeddingBag}.
 *
 * @param <O> the type of the options itself
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
     * Sets paddingIdx: index of a row that gets no gradient and is initially zero; negative counts from the end.
     *
     * @param value index of a row that gets no gradient and is initially zero; negative counts from the end
     * @return the changed options
     */
    public O withPaddingIdx(long value) {
        return with(options -> options.paddingIdx = value);
    }

    /**
     * Sets maxNorm: maximum norm of a row; rows with a larger norm are renormalized in place.
     *
     * @param value maximum norm of a row; rows with a larger norm are renormalized in place
     * @return the changed options
     */
    public O withMaxNorm(double value) {
        return with(options -> options.maxNorm = value);
    }

    /**
     * Sets normType: degree of the norm for {@code maxNorm} (default 2).
     *
     * @param value degree of the norm for {@code maxNorm} (default 2)
     * @return the changed options
     */
    public O withNormType(double value) {
        return with(options -> options.normType = value);
    }

    /**
     * Sets scaleGradByFreq: whether to divide gradients by the frequency of the index in the batch (default false).
     *
     * @param value whether to divide gradients by the frequency of the index in the batch (default false)
     * @return the changed options
     */
    public O withScaleGradByFreq(boolean value) {
        return with(options -> options.scaleGradByFreq = value);
    }

    /**
     * Sets sparse: ignored: the gradient is always dense.
     *
     * @param value ignored: the gradient is always dense
     * @return the changed options
     */
    public O withSparse(boolean value) {
        return with(options -> options.sparse = value);
    }

    /**
     * Sets weight: the embedding table.
     *
     * @param value the embedding table
     * @return the changed options
     */
    public O withWeight(Tensor value) {
        return with(options -> options.weight = value);
    }
}
