package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * The absolute difference.
 *
 * <pre>{@code
 * Tensor loss = new L1Loss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(1.)
 * }</pre>
 */
public final class L1Loss extends Loss {
    private final Options options;

    /** What a L1Loss does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long reduction = Reduction.MEAN;

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
    }

    /** The loss with the defaults. */
    public L1Loss() {
        this(new Options());
    }

    /**
     * The loss with options.
     *
     * @param options what it does
     */
    public L1Loss(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input, Tensor target) {
        checkOpen();
        return Functional.l1Loss(input, target, options.reduction);
    }
}
