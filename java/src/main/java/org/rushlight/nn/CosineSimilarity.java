package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Computes the cosine similarity of vectors.
 *
 * <pre>{@code
 * System.out.println(new CosineSimilarity().forward(Tensor.of(new float[][] {{1, 0}}), Tensor.of(new float[][] {{1, 1}}))); // tensor([0.7071])
 * }</pre>
 */
public final class CosineSimilarity extends Module {
    private final Options options;

    /** Options of {@link CosineSimilarity}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long dim = 1;
        double eps = 1e-8;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets dim: dimension of the vectors (default 1).
         *
         * @param value dimension of the vectors (default 1)
         * @return the changed options
         */
        public Options withDim(long value) {
            return with(options -> options.dim = value);
        }

        /**
         * Sets eps: lower bound of the norms, to avoid division by zero (default 1e-8).
         *
         * @param value lower bound of the norms, to avoid division by zero (default 1e-8)
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }
    }

    /** Creates the layer with default options. */
    public CosineSimilarity() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public CosineSimilarity(Options options) {
        this.options = options;
    }

    /**
     * Computes the similarities.
     *
     * @param input1 the first vectors
     * @param input2 the second vectors
     * @return one value per pair
     */
    public Tensor forward(Tensor input1, Tensor input2) {
        checkOpen();
        return Functional.cosineSimilarity(input1, input2, options.dim, options.eps);
    }
}
