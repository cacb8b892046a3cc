package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Applies {@code max(0, x) + weight * min(0, x)} element-wise, with a learnable slope.
 *
 * <pre>{@code
 * try (PReLU activation = new PReLU()) { // one slope for all channels, initially 0.25
 *     System.out.println(activation.forward(Tensor.of(-1f, 2f)).detach()); // tensor([-0.2500,  2.0000])
 * }
 * }</pre>
 */
public final class PReLU extends Module {
    private final Options options;
    private final Tensor weight;

    /** Options of {@link PReLU}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long numParameters = 1;
        double init = 0.25;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets numParameters: number of slopes: 1 for all channels (default), or the number of channels.
         *
         * @param value number of slopes: 1 for all channels (default), or the number of channels
         * @return the changed options
         */
        public Options withNumParameters(long value) {
            return with(options -> options.numParameters = value);
        }

        /**
         * Sets init: initial value of the slopes (default 0.25).
         *
         * @param value initial value of the slopes (default 0.25)
         * @return the changed options
         */
        public Options withInit(double value) {
            return with(options -> options.init = value);
        }
    }

    /** Creates the layer with default options. */
    public PReLU() {
        this(new Options());
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
     * Returns the slopes.
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
