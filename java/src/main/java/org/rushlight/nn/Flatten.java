package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Joins dimensions into one.
 *
 * <pre>{@code
 * Tensor y = new Flatten().forward(Torch.ones(4, 3, 8, 8));
 * System.out.println(Arrays.toString(y.shape())); // [4, 192]
 * }</pre>
 */
public final class Flatten extends Module {
    private final Options options;

    /** What a Flatten does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        long startDim = 1;
        long endDim = -1;

        /** The defaults of PyTorch. */
        public Options() {}

        /**
         * Sets startDim: first dimension.
         *
         * @param value first dimension
         * @return the changed options
         */
        public Options withStartDim(long value) {
            return with(options -> options.startDim = value);
        }

        /**
         * Sets endDim: last dimension.
         *
         * @param value last dimension
         * @return the changed options
         */
        public Options withEndDim(long value) {
            return with(options -> options.endDim = value);
        }
    }

    /** The layer with the defaults. */
    public Flatten() {
        this(new Options());
    }

    /**
     * The layer.
     *
     * @param startDim first dimension
     * @param endDim last dimension
     */
    public Flatten(long startDim, long endDim) {
        this(new Options().withStartDim(startDim).withEndDim(endDim));
    }

    /**
     * The layer with options.
     *
     * @param options what it does
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
