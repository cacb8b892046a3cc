package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * The squared difference, and a line from beta on.
 *
 * <pre>{@code
 * Tensor loss = new SmoothL1Loss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(0.7500)
 * }</pre>
 */
public final class SmoothL1Loss extends Loss {
    private final Options options;

    /** What a SmoothL1Loss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long reduction = Reduction.MEAN;
        double beta = 1;

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
         * Sets beta: where the square becomes a line.
         *
         * @param value where the square becomes a line
         * @return the changed options
         */
        public Options withBeta(double value) {
            return with(options -> options.beta = value);
        }
    }

    /** The loss with the defaults. */
    public SmoothL1Loss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
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
