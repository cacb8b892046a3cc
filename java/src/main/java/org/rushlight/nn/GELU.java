package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * {@code x} times the probability of a normal number below it.
 *
 * <pre>{@code
 * System.out.println(new GELU().forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([-0.1587,  0.3457,  1.9545])
 * }</pre>
 */
public final class GELU extends Module {
    private final Options options;

    /** What a GELU does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        String approximate = "none";

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets approximate: {@code none}, or {@code tanh} for an approximation.
         *
         * @param value {@code none}, or {@code tanh} for an approximation
         * @return the changed options
         */
        public Options withApproximate(String value) {
            return with(options -> options.approximate = value);
        }
    }

    /** The layer with the defaults. */
    public GELU() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
        return new Repr().named("approximate", "'" + options.approximate + "'").toString();
    }
}
