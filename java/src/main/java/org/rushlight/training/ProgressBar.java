package org.rushlight.training;

import java.io.PrintStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Prints the progress of a training: a line for each epoch, which every batch updates.
 *
 * <pre>{@code
 * var out = new java.io.ByteArrayOutputStream();
 * List<Example> batches = List.of(new Example(Torch.ones(2, 1), Torch.ones(2, 1)));
 * try (Linear layer = new Linear(1, 1); SGD optimizer = new SGD(layer.parameters(), 0.1)) {
 *     new Training(layer, Functional::mseLoss, optimizer, new Training.Options().withListeners(new ProgressBar(new java.io.PrintStream(out))))
 *         .fit(batches, 1);
 * }
 * System.out.println(out.toString().startsWith("\repoch 1/1: 1 batches")); // true
 * }</pre>
 *
 * <p>The bar itself appears once the number of batches is known: from the second epoch on.
 */
public final class ProgressBar implements TrainingListener {
    private static final int WIDTH = 20;

    private final PrintStream out;
    private int epoch;
    private int epochs;
    private long batches;

    /**
     * Creates a listener.
     *
     * @param out where to print, for example {@link System#err}
     */
    public ProgressBar(PrintStream out) {
        this.out = out;
    }

    @Override
    public void onEpochBegin(Training training, int epoch, int epochs) {
        this.epoch = epoch;
        this.epochs = epochs;
    }

    @Override
    public void onBatchEnd(Training training, long batch, double loss, Evaluation soFar) {
        StringBuilder line = new StringBuilder("\repoch ").append(epoch).append('/').append(epochs).append(": ");
        if (batches > 0) {
            int full = (int) (WIDTH * Math.min(batch, batches) / batches);
            line.append('[').append("#".repeat(full)).append(".".repeat(WIDTH - full)).append("] ").append(batch).append('/').append(batches);
        } else {
            line.append(batch);
        }
        out.print(line.append(" batches").append(numbers("", soFar)));
        out.flush();
    }

    @Override
    public void onEpochEnd(Training training, int epoch, Evaluation trained, @Nullable Evaluation validated) {
        batches = trained.batches();
        out.println(validated == null ? "" : numbers("validation ", validated));
    }

    private static String numbers(String prefix, Evaluation of) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, ", %sloss %.4f", prefix, of.loss()));
        of.metrics().forEach((name, value) -> text.append(String.format(Locale.ROOT, ", %s%s %.4f", prefix, name, value)));
        return text.append(String.format(Locale.ROOT, ", %.0f examples/s", of.examplesPerSecond())).toString();
    }
}
