package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The norm of the difference of vectors.
 *
 * <pre>{@code
 * System.out.println(new PairwiseDistance().forward(Tensor.of(new float[][] {{1, 0}}), Tensor.of(new float[][] {{0, 1}}))); // tensor([1.4142])
 * }</pre>
 */
public final class PairwiseDistance extends Module {
    private final Options options;

    /** What a PairwiseDistance does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double p = 2;
        double eps = 1e-6;
        boolean keepdim = false;

        /** The defaults of PyTorch. */
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
         * Sets eps: added to the difference.
         *
         * @param value added to the difference
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets keepdim: keep the dimension with size 1.
         *
         * @param value keep the dimension with size 1
         * @return the changed options
         */
        public Options withKeepdim(boolean value) {
            return with(options -> options.keepdim = value);
        }
    }

    /** The layer with the defaults. */
    public PairwiseDistance() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public PairwiseDistance(Options options) {
        this.options = options;
    }

    /**
     * Computes the distances.
     *
     * @param input1 the first vectors
     * @param input2 the second vectors
     * @return one number for each pair
     */
    public Tensor forward(Tensor input1, Tensor input2) {
        checkOpen();
        return Functional.pairwiseDistance(input1, input2, options.p, options.eps, options.keepdim);
    }
}
