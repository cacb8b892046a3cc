package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the smooth L1 loss: quadratic below {@code beta}, linear above.
 *
 * <pre>{@code
 * Tensor loss = new SmoothL1Loss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(0.7500)
 * }</pre>
 */
public final class SmoothL1Loss extends Loss {
    private final Options options;

    /** Options of {@link SmoothL1Loss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        Reduction reduction = Reduction.MEAN;
        double beta = 1;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets reduction: a value of {@link Reduction} (default {@code MEAN}).
         *
         * @param value a value of {@link Reduction} (default {@code MEAN})
         * @return the changed options
         */
        public Options withReduction(Reduction value) {
            return with(options -> options.reduction = value);
        }

        /**
         * Sets beta: threshold between the quadratic and the linear part (default 1).
         *
         * @param value threshold between the quadratic and the linear part (default 1)
         * @return the changed options
         */
        public Options withBeta(double value) {
            return with(options -> options.beta = value);
        }
    }

    /** Creates the loss with default options. */
    public SmoothL1Loss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public SmoothL1Loss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.smoothL1Loss(input, target, options.reduction, options.beta);
    }
}
