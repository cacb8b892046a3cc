package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Half the squared difference, and a line from delta on.
 *
 * <pre>{@code
 * Tensor loss = new HuberLoss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(0.7500)
 * }</pre>
 */
public final class HuberLoss extends Loss {
    private final Options options;

    /** What a HuberLoss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long reduction = Reduction.MEAN;
        double delta = 1;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets reduction: one of {@link Reduction}.
         *
         * @param value one of {@link Reduction}
         * @return the changed options
         */
        public Options withReduction(long value) {
            return with(options -> options.reduction = value);
        }

        /**
         * Sets delta: where the square becomes a line.
         *
         * @param value where the square becomes a line
         * @return the changed options
         */
        public Options withDelta(double value) {
            return with(options -> options.delta = value);
        }
    }

    /** The loss with the defaults. */
    public HuberLoss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
