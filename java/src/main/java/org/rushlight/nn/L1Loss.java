package org.rushlight.nn;

import org.rushlight.Reduction;
import org.rushlight.Tensor;

/**
 * Computes the absolute error.
 *
 * <pre>{@code
 * Tensor loss = new L1Loss().forward(Tensor.of(1f, 2f), Tensor.of(1f, 4f));
 * System.out.println(loss); // tensor(1.)
 * }</pre>
 */
public final class L1Loss extends Loss {
    private final Options options;

    /** Options of {@link L1Loss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        Reduction reduction = Reduction.MEAN;

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
    }

    /** Creates the loss with default options. */
    public L1Loss() {
        this(new Options());
    }

    /**
     * Creates the loss with options.
     *
     * @param options the options
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
