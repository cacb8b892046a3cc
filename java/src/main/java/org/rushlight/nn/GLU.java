package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Applies the gated linear unit: {@code a * sigmoid(b)}, where {@code a} and {@code b} are the halves of the input
 * along a dimension.
 *
 * <pre>{@code
 * System.out.println(new GLU().forward(Tensor.of(1f, 2f, 0f, 0f))); // tensor([0.5000, 1.0000])
 * }</pre>
 */
public final class GLU extends Module {
    private final Options options;

    /** Options of {@link GLU}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long dim = -1;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets dim: dimension to split in half (default -1).
         *
         * @param value dimension to split in half (default -1)
         * @return the changed options
         */
        public Options withDim(long value) {
            return with(options -> options.dim = value);
        }
    }

    /** Creates the layer with default options. */
    public GLU() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param dim dimension to split in half (default -1)
     */
    public GLU(long dim) {
        this(new Options().withDim(dim));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
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
