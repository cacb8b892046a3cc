package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Pads the last dimension by replicating the edges.
 *
 * <pre>{@code
 * System.out.println(new ReplicationPad1d(1, 2).forward(Tensor.of(new float[][] {{1, 2, 3}}))); // tensor([[1., 1., 2., 3., 3., 3.]])
 * }</pre>
 */
public final class ReplicationPad1d extends Module {
    private final long[] padding;

    /**
     * Creates the layer.
     *
     * @param padding two sizes (before, after) per dimension, starting with the last; or one size for all sides
     */
    public ReplicationPad1d(long... padding) {
        this.padding = padding.clone();
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pad(input, Sizes.expand("padding", padding, 2), PadMode.REPLICATE, 0);
    }

    @Override
    protected String extraRepr() {
        return Repr.text(Sizes.expand("padding", padding, 2)).toString();
    }
}
