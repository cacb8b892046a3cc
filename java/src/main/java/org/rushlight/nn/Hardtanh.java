package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * {@code x}, held between two bounds.
 *
 * <pre>{@code
 * System.out.println(new Hardtanh(0, 1).forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.0000, 0.5000, 1.0000])
 * }</pre>
 */
public final class Hardtanh extends Module {
    private final Options options;

    /** What a Hardtanh does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double minVal = -1;
        double maxVal = 1;
        boolean inplace = false;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets minVal: lower bound.
         *
         * @param value lower bound
         * @return the changed options
         */
        public Options withMinVal(double value) {
            return with(options -> options.minVal = value);
        }

        /**
         * Sets maxVal: upper bound.
         *
         * @param value upper bound
         * @return the changed options
         */
        public Options withMaxVal(double value) {
            return with(options -> options.maxVal = value);
        }

        /**
         * Sets inplace: write over the input.
         *
         * @param value write over the input
         * @return the changed options
         */
        public Options withInplace(boolean value) {
            return with(options -> options.inplace = value);
        }
    }

    /** The layer with the defaults. */
    public Hardtanh() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param minVal lower bound
     * @param maxVal upper bound
     */
    public Hardtanh(double minVal, double maxVal) {
        this(new Options().withMinVal(minVal).withMaxVal(maxVal));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public Hardtanh(Options options) {
        if (!(options.maxVal > options.minVal)) {
            throw new TensorValueException("max_val must be greater than min_val");
        }
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.hardtanh(input, options.minVal, options.maxVal, options.inplace);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("min_val", options.minVal).named("max_val", options.maxVal).namedIf(options.inplace, "inplace", true).toString();
    }
}
