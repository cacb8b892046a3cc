package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Rearranges pixels into channels: the inverse of {@link PixelShuffle}.
 *
 * <pre>{@code
 * Tensor y = new PixelUnshuffle(2).forward(Torch.ones(1, 2, 6, 6));
 * System.out.println(Arrays.toString(y.shape())); // [1, 8, 3, 3]
 * }</pre>
 */
public final class PixelUnshuffle extends Module {
    private final long downscaleFactor;

    /**
     * Creates the layer.
     *
     * @param downscaleFactor divisor {@code r} of height and width
     */
    public PixelUnshuffle(long downscaleFactor) {
        this.downscaleFactor = downscaleFactor;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pixelUnshuffle(input, downscaleFactor);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("downscale_factor", downscaleFactor).toString();
    }
}
