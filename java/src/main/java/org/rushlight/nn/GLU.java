package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * The first half of a dimension times the sigmoid of the second.
 *
 * <pre>{@code
 * System.out.println(new GLU().forward(Tensor.of(1f, 2f, 0f, 0f))); // tensor([0.5000, 1.0000])
 * }</pre>
 */
public final class GLU extends Module {
    private final Options options;

    /** What a GLU does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long dim = -1;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets dim: the dimension that is cut in halves.
         *
         * @param value the dimension that is cut in halves
         * @return the changed options
         */
        public Options withDim(long value) {
            return with(options -> options.dim = value);
        }
    }

    /** The layer with the defaults. */
    public GLU() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param dim the dimension that is cut in halves
     */
    public GLU(long dim) {
        this(new Options().withDim(dim));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
     */
    public GLU(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.glu(input, options.dim);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("dim", options.dim).toString();
    }
}
