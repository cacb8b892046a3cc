package digits;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.rushlight.DType;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/** A picture as an SVG file: rectangles, text, squares and curves whose coordinates and colors come from tensors. */
final class Canvas {
    /** Red, green and blue, 0 to 255. */
    record Color(int red, int green, int blue) {
        /** Interpolates from this color (weight 0) to another (weight 1): [rows, columns, 3] for weights [rows, columns]. */
        Tensor blend(Color other, Tensor weight) {
            return tensor().lerp(other.tensor(), weight.unsqueeze(2));
        }

        private Tensor tensor() {
            return Tensor.of((float) red, (float) green, (float) blue);
        }

        private String hex() {
            return String.format(Locale.ROOT, "#%02x%02x%02x", red, green, blue);
        }
    }

    record Area(int y, int x, int height, int width) {}

    /** The part of a text at its coordinate. */
    enum Align {
        LEFT("start"),
        CENTER("middle"),
        RIGHT("end");

        private final String anchor;

        Align(String anchor) {
            this.anchor = anchor;
        }
    }

    private final StringBuilder svg = new StringBuilder();

    /** A white background. */
    Canvas(int height, int width) {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"monospace\">\n", width, height);
        fill(new Area(0, 0, height, width), new Color(255, 255, 255));
    }

    void fill(Area area, Color color) {
        add(
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n",
                area.x,
                area.y,
                area.width,
                area.height,
                color.hex());
    }

    /** {@code y} is the top of the capital letters. The text has no {@code <} or {@code &}. */
    void text(int y, int x, String text, int size, Color color, Align align) {
        // A capital letter is 0.7 times as high as the font.
        add(
                "<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n",
                x,
                y + size * 7 / 10,
                size,
                align.anchor,
                color.hex(),
                text);
    }

    /** Draws each color of a tensor [rows, columns, 3] as a square. */
    void squares(int y, int x, Tensor colors, int size) {
        try (Scope scope = new Scope()) {
            int[] channel = colors.round().to(DType.INT32).toIntArray();
            int columns = (int) colors.size(1);
            for (int i = 0; 3 * i < channel.length; i++) {
                Area square = new Area(y + i / columns * size, x + i % columns * size, size, size);
                fill(square, new Color(channel[3 * i], channel[3 * i + 1], channel[3 * i + 2]));
            }
        }
    }

    /**
     * n values as a line between {@code low} at the bottom and {@code high} at the top of the area: value i is at (i + 1) / n of the
     * width.
     */
    void curve(Area area, Tensor values, double low, double high, int thickness, Color color) {
        try (Scope scope = new Scope()) {
            long n = values.numel();
            Tensor y = Torch.rsub(values.to(DType.FLOAT64), high).mul(area.height / (high - low));
            y = y.clamp(0, area.height).add(area.y);
            Tensor x = Torch.arange(1, n + 1).to(DType.FLOAT64).mul((double) area.width / n).add(area.x);
            // Tenths of a pixel; rounding here, not in format, gives every language the same digits.
            double[] points = Torch.stack(new Tensor[] {x, y}, 1).round(1).toDoubleArray();
            add("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%d\"", color.hex(), thickness);
            add(" stroke-linejoin=\"round\" points=\"");
            for (int i = 0; i < n; i++) {
                add("%s%.1f,%.1f", i == 0 ? "" : " ", points[2 * i], points[2 * i + 1]);
            }
            add("\"/>\n");
        }
    }

    /** Writes the file. */
    void save(Path file) throws IOException {
        Files.writeString(file, svg + "</svg>\n");
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
