package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Computes the p-norm of the difference of vectors.
 *
 * <pre>{@code
 * System.out.println(new PairwiseDistance().forward(Tensor.of(new float[][] {{1, 0}}), Tensor.of(new float[][] {{0, 1}}))); // tensor([1.4142])
 * }</pre>
 */
public final class PairwiseDistance extends Module {
    private final Options options;

    /** Options of {@link PairwiseDistance}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double p = 2;
        double eps = 1e-6;
        boolean keepdim = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets p: degree of the norm.
         *
         * @param value degree of the norm
         * @return the changed options
         */
        public Options withP(double value) {
            return with(options -> options.p = value);
        }

        /**
         * Sets eps: term added to the difference for numerical stability (default 1e-6).
         *
         * @param value term added to the difference for numerical stability (default 1e-6)
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets keepdim: whether to keep the last dimension with size 1 (default false).
         *
         * @param value whether to keep the last dimension with size 1 (default false)
         * @return the changed options
         */
        public Options withKeepdim(boolean value) {
            return with(options -> options.keepdim = value);
        }
    }

    /** Creates the layer with default options. */
    public PairwiseDistance() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public PairwiseDistance(Options options) {
        this.options = options;
    }

    /**
     * Computes the distances.
     *
     * @param input1 the first vectors
     * @param input2 the second vectors
     * @return one value per pair
     */
    public Tensor forward(Tensor input1, Tensor input2) {
        checkOpen();
        return Functional.pairwiseDistance(input1, input2, options.p, options.eps, options.keepdim);
    }
}
