package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Channels as pixels.
 *
 * <pre>{@code
 * Tensor y = new PixelShuffle(2).forward(Torch.ones(1, 8, 3, 3));
 * System.out.println(Arrays.toString(y.shape())); // [1, 2, 6, 6]
 * }</pre>
 */
public final class PixelShuffle extends Module {
    private final long upscaleFactor;

    /**
     * The layer.
     *
     * @param upscaleFactor factor of height and width
     */
    public PixelShuffle(long upscaleFactor) {
        this.upscaleFactor = upscaleFactor;
    }

    @Override
    public Tensor forward(Tensor input) {
        checkOpen();
        return Functional.pixelShuffle(input, upscaleFactor);
    }

    @Override
    protected String extraRepr() {
        return new Repr().named("upscale_factor", upscaleFactor).toString();
    }
}
