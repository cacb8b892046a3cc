package digits;

import digits.Canvas.Align;
import digits.Canvas.Area;
import digits.Canvas.Color;
import java.io.IOException;
import java.nio.file.Path;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/** The picture of the learning curve. */
final class Curves {
    /** A plot: its area, and the values at its bottom and top. */
    private record Axes(Area area, double low, double high) {}

    private record Tick(String label, double value) {}

    private static final Axes LOSS = new Axes(new Area(110, 90, 260, 840), -3, 0.5); // log10 of the loss
    private static final Axes ACCURACY = new Axes(new Area(430, 90, 170, 840), 80, 100); // percent

    private final Canvas canvas;
    private final int epochs;

    private Curves(Canvas canvas, int epochs) {
        this.canvas = canvas;
        this.epochs = epochs;
    }

    static void draw(History history, Path file) throws IOException {
        try (Scope scope = new Scope()) {
            Canvas canvas = new Canvas(680, 960);
            canvas.text(24, 480, "Learning curve", 30, Palette.INK, Align.CENTER);
            Curves curves = new Curves(canvas, (int) history.testLosses().size(0));
            curves.drawLosses(history);
            curves.drawAccuracies(history);
            canvas.save(file);
        }
    }

    private void drawLosses(History history) {
        drawAxes(LOSS, "loss", new Tick("1", 0), new Tick("0.1", -1), new Tick("0.01", -2), new Tick("0.001", -3));
        int key = drawKey(76, 260, "training batch", Palette.PALE);
        key = drawKey(76, key, "mean of the epoch", Palette.BLUE);
        drawKey(76, key, "test", Palette.RED);
        drawCurve(LOSS, history.losses().log10(), 2, Palette.PALE);
        drawCurve(LOSS, history.losses().view(epochs, -1).mean(1).log10(), 3, Palette.BLUE);
        drawCurve(LOSS, history.testLosses().log10(), 3, Palette.RED);
    }

    private void drawAccuracies(History history) {
        drawAxes(
                ACCURACY,
                "test accuracy",
                new Tick("80 %", 80),
                new Tick("85 %", 85),
                new Tick("90 %", 90),
                new Tick("95 %", 95),
                new Tick("100 %", 100));
        drawCurve(ACCURACY, history.testAccuracies().mul(100), 3, Palette.RED);
        for (int epoch = 0; epoch <= epochs; epoch++) {
            canvas.text(614, 90 + epoch * 840 / epochs, Integer.toString(epoch), 20, Palette.GREY, Align.CENTER);
        }
        canvas.text(646, 510, "epoch", 20, Palette.INK, Align.CENTER);
    }

    private void drawAxes(Axes axes, String title, Tick... ticks) {
        Area a = axes.area;
        canvas.text(a.y() - 34, a.x(), title, 20, Palette.INK, Align.LEFT);
        for (Tick tick : ticks) {
            int at = a.y() + (int) ((axes.high - tick.value) / (axes.high - axes.low) * a.height());
            canvas.fill(new Area(at, a.x(), 1, a.width()), Palette.GRID);
            canvas.text(at - 7, a.x() - 10, tick.label, 20, Palette.GREY, Align.RIGHT);
        }
        for (int epoch = 0; epoch <= epochs; epoch++) {
            canvas.fill(new Area(a.y() + a.height(), a.x() + epoch * a.width() / epochs, 6, 1), Palette.GREY);
        }
        canvas.fill(new Area(a.y(), a.x() - 1, a.height(), 1), Palette.GREY);
        canvas.fill(new Area(a.y() + a.height(), a.x() - 1, 1, a.width() + 1), Palette.GREY);
    }

    private void drawCurve(Axes axes, Tensor values, int thickness, Color color) {
        canvas.curve(axes.area, values, axes.low, axes.high, thickness, color);
    }

    /** A line of a legend; returns the position of the next one. */
    private int drawKey(int y, int x, String label, Color color) {
        canvas.fill(new Area(y + 5, x, 4, 28), color);
        canvas.text(y, x + 38, label, 20, Palette.INK, Align.LEFT);
        return x + 68 + 12 * label.length();
    }
}
