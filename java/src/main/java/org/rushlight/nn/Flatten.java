package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Flattens a contiguous range of dimensions.
 *
 * <pre>{@code
 * Tensor y = new Flatten().forward(Torch.ones(4, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [4, 192]
 * }</pre>
 */
public final class Flatten extends Module {
    private final Options options;

    /** Options of {@link Flatten}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long startDim = 1;
        long endDim = -1;

        /** Creates PyTorch's default options. */
        public Options() {}

        /**
         * Sets startDim: first dimension to flatten (default 1).
         *
         * @param value first dimension to flatten (default 1)
         * @return the changed options
         */
        public Options withStartDim(long value) {
            return with(options -> options.startDim = value);
        }

        /**
         * Sets endDim: last dimension to flatten (default -1).
         *
         * @param value last dimension to flatten (default -1)
         * @return the changed options
         */
        public Options withEndDim(long value) {
            return with(options -> options.endDim = value);
        }
    }

    /** Creates the layer with default options. */
    public Flatten() {
        this(new Options());
    }

    /**
     * Creates the layer.
     *
     * @param startDim first dimension to flatten (default 1)
     * @param endDim last dimension to flatten (default -1)
     */
    public Flatten(long startDim, long endDim) {
        this(new Options().withStartDim(startDim).withEndDim(endDim));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public Flatten(Options options) {
        this.options = options;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return input.flatten(options.startDim, options.endDim);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("start_dim", options.startDim).named("end_dim", options.endDim).toString();
    }
}
