package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The cosine of the angle between vectors.
 *
 * <pre>{@code
 * System.out.println(new CosineSimilarity().forward(Tensor.of(new float[][] {{1, 0}}), Tensor.of(new float[][] {{1, 1}}))); // tensor([0.7071])
 * }</pre>
 */
public final class CosineSimilarity extends Module {
    private final Options options;

    /** What a CosineSimilarity does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long dim = 1;
        double eps = 1e-8;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets dim: dimension of the vectors.
         *
         * @param value dimension of the vectors
         * @return the changed options
         */
        public Options withDim(long value) {
            return with(options -> options.dim = value);
        }

        /**
         * Sets eps: least product of norms.
         *
         * @param value least product of norms
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }
    }

    /** The layer with the defaults. */
    public CosineSimilarity() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public CosineSimilarity(Options options) {
        this.options = options;
    }

    /**
     * Computes the similarities.
     *
     * @param input1 the first vectors
     * @param input2 the second vectors
     * @return one number for each pair
     */
    public Tensor forward(Tensor input1, Tensor input2) {
        checkOpen();
        return Functional.cosineSimilarity(input1, input2, options.dim, options.eps);
    }
}
