package digits;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.rushlight.DType;
import org.rushlight.Scope;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/** A picture that is drawn with operators: a tensor of colors that rectangles, letters and curves are mixed into. */
final class Canvas {
    /** Red, green and blue, 0 to 255. */
    record Color(float red, float green, float blue) {
        Tensor tensor() {
            return Tensor.of(red, green, blue);
        }
    }

    record Area(int y, int x, int height, int width) {}

    /** What of a text stands at the place it is given: its begin, its middle or its end. */
    enum Align {
        LEFT,
        CENTER,
        RIGHT
    }

    private final Tensor pixels; // float32 [height, width, 3]
    private final Tensor glyphs; // float32 [95, 9, 6], 1 is ink: the characters from ' ' to '~'

    /** A white one. {@code font} is the file of the examples, with the tensor {@code glyphs}. */
    Canvas(Path font, int height, int width) {
        pixels = Torch.full(new long[] {height, width, 3}, 255f);
        glyphs = StateDict.load(font).get("glyphs").to(DType.FLOAT32);
    }

    void fill(Area area, Color color) {
        try (Scope scope = new Scope()) {
            region(area).copy_(color.tensor());
        }
    }

    /** Mixes a color in: coverage [height, width] 0 leaves a pixel as it is, 1 paints it over. */
    void blend(int y, int x, Tensor coverage, Color color) {
        try (Scope scope = new Scope()) {
            region(y, x, coverage).lerp_(color.tensor(), coverage.unsqueeze(2));
        }
    }

    /** Paints [height, width, 3] over. */
    void paste(int y, int x, Tensor picture) {
        try (Scope scope = new Scope()) {
            region(y, x, picture).copy_(picture);
        }
    }

    /** Letters of 7 * scale pixels above the line. */
    void text(int y, int x, String text, int scale, Color color, Align align) {
        try (Scope scope = new Scope()) {
            Tensor codes = Tensor.of(text.chars().asLongStream().map(letter -> letter - ' ').toArray());
            // [letters, rows, columns] to rows of all letters
            Tensor letters = glyphs.index_select(0, codes).permute(1, 0, 2).reshape(9, -1);
            int width = (6 * text.length() - 1) * scale; // without the gap after the last letter
            int start = align == Align.LEFT ? x : align == Align.CENTER ? x - width / 2 : x - width;
            blend(y, start, enlarge(letters, scale), color);
        }
    }

    /**
     * n values as a line between {@code low} at the bottom and {@code high} at the top of the area: value i stands at (i + 1) / n of
     * the width.
     */
    void curve(Area area, Tensor values, double low, double high, double thickness, Color color) {
        try (Scope scope = new Scope()) {
            int start = area.width / (int) values.numel();
            int columns = area.width - start;
            // How far below the top each value is, and between values in each column; a column's line reaches from its own height
            // to those of the next two, so that steep parts are as thick as flat ones.
            Tensor heights = Torch.rsub(values, high).div(high - low).mul(area.height).clamp(0, area.height).to(DType.FLOAT32);
            Tensor line = Torch.upsample_linear1d(heights.view(1, 1, -1), columns + 2, true).view(-1).unfold(0, 3, 1);
            Tensor top = line.amin(1).sub(thickness / 2);
            Tensor bottom = line.amax(1).add(thickness / 2);
            // How much of a pixel lies between the two.
            Tensor row = Torch.arange(area.height).unsqueeze(1);
            Tensor coverage = Torch.minimum(row.add(1), bottom).sub(Torch.maximum(row, top)).clamp(0, 1);
            blend(area.y, area.x + start, coverage, color);
        }
    }

    /** Writes a PNG file. */
    void save(Path file) throws IOException {
        int height = (int) pixels.size(0);
        int width = (int) pixels.size(1);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        image.getRaster().setPixels(0, 0, width, height, pixels.round().to(DType.INT32).toIntArray());
        if (!ImageIO.write(image, "png", file.toFile())) {
            throw new IOException("cannot write " + file);
        }
    }

    /** Every element as a square of size * size. */
    static Tensor enlarge(Tensor picture, long size) {
        return picture.repeat_interleave(size, 0).repeat_interleave(size, 1);
    }

    /** A view: what is written into it is written into the canvas. */
    private Tensor region(Area area) {
        return pixels.narrow(0, area.y, area.height).narrow(1, area.x, area.width);
    }

    /** The region at a place that is as high and as wide as another tensor. */
    private Tensor region(int y, int x, Tensor like) {
        return region(new Area(y, x, (int) like.size(0), (int) like.size(1)));
    }
}
