package digits;

import digits.Canvas.Align;
import digits.Canvas.Area;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.rushlight.DType;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;

/** The picture of the confusion matrix and of the first misclassified images. */
final class Confusion {
    private static final int TOP = 110;
    private static final int LEFT = 80;
    private static final int CELL = 48;
    private static final int CLASSES = 10;

    private final Canvas canvas;

    private Confusion(Canvas canvas) {
        this.canvas = canvas;
    }

    static void draw(Tensor logits, Digits test, Path file) throws IOException {
        try (Scope scope = new Scope()) {
            Canvas canvas = new Canvas(660, 860);
            double percent = 100 * Evaluation.accuracy(logits, test.labels());
            String title = String.format(Locale.ROOT, "%.2f %% of %d digits read right", percent, test.labels().size(0));
            canvas.text(24, 430, title, 30, Palette.INK, Align.CENTER);
            canvas.text(TOP - 34, LEFT, "digit", 20, Palette.INK, Align.LEFT);
            canvas.text(TOP + CLASSES * CELL + 36, LEFT + CLASSES * CELL / 2, "what the model says", 20, Palette.INK, Align.CENTER);
            Confusion picture = new Confusion(canvas);
            Tensor counts = Evaluation.confusionMatrix(logits, test.labels());
            picture.drawCells(counts);
            picture.drawNumbers(counts);
            picture.drawMisread(logits.argmax(1), test);
            canvas.save(file);
        }
    }

    /** The cells: blue on the diagonal, as strong as the share of the row; red elsewhere, saturating early. */
    private void drawCells(Tensor counts) {
        Tensor share = counts.div(counts.sum(1, true));
        Tensor right = Palette.PAPER.blend(Palette.BLUE, share);
        Tensor wrong = Palette.PAPER.blend(Palette.RED, share.mul(20).clampMax(1));
        Tensor diagonal = Torch.eye(CLASSES, TensorOptions.of(DType.BOOL)).unsqueeze(2);
        canvas.squares(TOP, LEFT, Torch.where(diagonal, right, wrong), CELL);
    }

    private void drawNumbers(Tensor counts) {
        for (int digit = 0; digit < CLASSES; digit++) {
            int y = TOP + digit * CELL;
            int x = LEFT + digit * CELL;
            canvas.fill(new Area(y, LEFT, 2, CLASSES * CELL), Palette.WHITE);
            canvas.fill(new Area(TOP, x, CLASSES * CELL, 2), Palette.WHITE);
            canvas.text(y + 18, LEFT - 14, Integer.toString(digit), 20, Palette.INK, Align.RIGHT);
            canvas.text(TOP + CLASSES * CELL + 8, x + 24, Integer.toString(digit), 20, Palette.INK, Align.CENTER);
        }
        long[] cells = counts.toLongArray();
        for (int i = 0; i < cells.length; i++) {
            if (cells[i] != 0) {
                int y = TOP + i / CLASSES * CELL + 18;
                int x = LEFT + i % CLASSES * CELL + 25;
                canvas.text(y, x, Long.toString(cells[i]), 20, Palette.WHITE, Align.CENTER);
            }
        }
    }

    /** The first eight misclassified images, two in a row. */
    private void drawMisread(Tensor predicted, Digits test) {
        canvas.text(TOP - 34, 620, "misread", 20, Palette.INK, Align.LEFT);
        long[] wrong = predicted.ne(test.labels()).nonzero().view(-1).toLongArray();
        long[] digits = test.labels().toLongArray();
        long[] said = predicted.toLongArray();
        for (int i = 0; i < Math.min(wrong.length, 8); i++) {
            int row = (int) wrong[i];
            int y = TOP + i / 2 * 124;
            int x = 620 + i % 2 * 110;
            canvas.fill(new Area(y, x, 76, 76), Palette.GRID);
            Tensor image = test.images().select(0, row).select(0, 0);
            canvas.squares(y + 2, x + 2, Palette.WHITE.blend(Palette.INK, image), 9);
            canvas.text(y + 84, x + 38, digits[row] + " as " + said[row], 20, Palette.RED, Align.CENTER);
        }
    }
}
