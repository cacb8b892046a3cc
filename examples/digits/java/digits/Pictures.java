package digits;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.rushlight.DType;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/** Pictures, made with operators and written with ImageIO. */
final class Pictures {
    private Pictures() {}

    /** Writes shares in [0, 1], [height, width], as a PNG file: 0 is white, 1 is dark blue. */
    private static void write(Tensor shares, Path file) throws IOException {
        Tensor ink = Tensor.of(223f, 160f, 66f); // what it takes from white in red, green and blue
        Tensor picture = Torch.rsub(shares.unsqueeze(2).mul(ink), 255).to(DType.INT32).contiguous();
        int height = (int) picture.size(0);
        int width = (int) picture.size(1);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        image.getRaster().setPixels(0, 0, width, height, picture.toIntArray());
        if (!ImageIO.write(image, "png", file.toFile())) {
            throw new IOException("cannot write " + file);
        }
    }

    static void drawConfusion(Tensor counts, Path file) throws IOException {
        Tensor shares = counts.div(counts.sum(1, true));
        write(shares.view(10, 1, 10, 1).expand(10, 32, 10, 32).reshape(320, 320), file);
    }

    /** One bar per step, as high as the loss. */
    static void drawLosses(Tensor losses, Path file) throws IOException {
        Tensor bars = losses.div(losses.max()).mul(160);
        write(Torch.arange(160, 0, -1).unsqueeze(1).le(bars).to(DType.FLOAT32), file);
    }
}
