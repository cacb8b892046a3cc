package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the Huber loss: quadratic below {@code delta}, linear above.
 *
 * <pre>{@code
 * Tensor loss = new HuberLoss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(0.7500)
 * }</pre>
 */
public final class HuberLoss extends Loss {
    private final Options options;

    /** Options of {@link HuberLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        Reduction reduction = Reduction.MEAN;
        double delta = 1;

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
         * Sets delta: threshold between the quadratic and the linear part (default 1).
         *
         * @param value threshold between the quadratic and the linear part (default 1)
         * @return the changed options
         */
        public Options withDelta(double value) {
            return with(options -> options.delta = value);
        }
    }

    /** Creates the loss with default options. */
    public HuberLoss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
     */
    public HuberLoss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.huberLoss(input, target, options.reduction, options.delta);
    }
}
