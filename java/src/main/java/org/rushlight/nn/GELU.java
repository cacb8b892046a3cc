package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies the Gaussian Error Linear Unit element-wise: {@code x * Φ(x)}, where {@code Φ} is the CDF of the standard
 * normal distribution.
 *
 * <pre>{@code
 * System.out.println(new GELU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.1587,  0.3457,  1.9545])
 * }</pre>
 */
public final class GELU extends Module {
    private final Options options;

    /** Options of {@link GELU}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        GELUApproximation approximate = GELUApproximation.NONE;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets approximate: the formula (default {@code NONE}).
         *
         * @param value the formula (default {@code NONE})
         * @return the changed options
         */
        public Options withApproximate(GELUApproximation value) {
            return with(options -> options.approximate = value);
        }
    }

    /** Creates the layer with default options. */
    public GELU() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public GELU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.gelu(input, options.approximate);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("approximate", "'" + options.approximate.word + "'").toString();
    }
}
