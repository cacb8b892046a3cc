package org.rushlight.nn;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Clamps each element to {@code [minVal, maxVal]}.
 *
 * <pre>{@code
 * System.out.println(new Hardtanh(0, 1).forward(Tensor.of(-1f, 0.5f, 2f))); // tensor([0.0000, 0.5000, 1.0000])
 * }</pre>
 */
public final class Hardtanh extends Module {
    private final Options options;

    /** Options of {@link Hardtanh}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        double minVal = -1;
        double maxVal = 1;
        boolean inplace = false;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets minVal: lower bound (default -1).
         *
         * @param value lower bound (default -1)
         * @return the changed options
         */
        public Options withMinVal(double value) {
            return with(options -> options.minVal = value);
        }

        /**
         * Sets maxVal: upper bound (default 1).
         *
         * @param value upper bound (default 1)
         * @return the changed options
         */
        public Options withMaxVal(double value) {
            return with(options -> options.maxVal = value);
        }

        /**
         * Sets inplace: whether to overwrite the input (default false).
         *
         * @param value whether to overwrite the input (default false)
         * @return the changed options
         */
        public Options withInplace(boolean value) {
            return with(options -> options.inplace = value);
        }
    }

    /** Creates the layer with default options. */
    public Hardtanh() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param minVal lower bound (default -1)
     * @param maxVal upper bound (default 1)
     */
    public Hardtanh(double minVal, double maxVal) {
        this(new Options().withMinVal(minVal).withMaxVal(maxVal));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
