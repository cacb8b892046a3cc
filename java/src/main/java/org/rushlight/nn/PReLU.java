package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * {@code x}, or a learned part of it below zero.
 *
 * <pre>{@code
 * try (PReLU activation = new PReLU()) { // one slope for all, 0.25 to begin with
 *     System.out.println(activation.forward(Tensor.of(-1f, 2f)).detach()); // tensor([-0.2500,  2.0000])
 * }
 * }</pre>
 */
public final class PReLU extends Module {
    private final Options options;
    private final Tensor weight;

    /** What a PReLU does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long numParameters = 1;
        double init = 0.25;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets numParameters: one slope for all, or one per channel.
         *
         * @param value one slope for all, or one per channel
         * @return the changed options
         */
        public Options withNumParameters(long value) {
            return with(options -> options.numParameters = value);
        }

        /**
         * Sets init: what the slopes are at first.
         *
         * @param value what the slopes are at first
         * @return the changed options
         */
        public Options withInit(double value) {
            return with(options -> options.init = value);
        }
    }

    /** The layer with the defaults. */
    public PReLU() {
        this(new Options());
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public PReLU(Options options) {
        this.options = options;
        weight = registerParameter("weight", Torch.full(new long[] {options.numParameters}, options.init));
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.prelu(input, weight);
    }

    /**
     * The slopes.
     *
     * @return the parameter
     */
    public Tensor weight() {
        return weight;
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("num_parameters", options.numParameters).toString();
    }
}
