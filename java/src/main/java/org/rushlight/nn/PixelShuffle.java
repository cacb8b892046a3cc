package org.rushlight.nn;

import org.rushlight.Tensor;

/**
 * Rearranges channels into pixels: {@code (*, C r^2, H, W) -> (*, C, H r, W r)}.
 *
 * <pre>{@code
 * Tensor y = new PixelShuffle(2).forward(Torch.ones(1, 8, 3, 3));
 * System.out.println(Arrays.toString(y.shape())); // [1, 2, 6, 6]
 * }</pre>
 */
public final class PixelShuffle extends Module {
    private final long upscaleFactor;

    /**
     * Creates the layer.
     *
     * @param upscaleFactor factor {@code r} of height and width
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
