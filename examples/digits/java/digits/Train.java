package digits;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.rushlight.DType;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.Torch;
import org.rushlight.nn.Functional;
import org.rushlight.optim.AdamW;
import org.rushlight.optim.StepLR;

/**
 * Trains a convolutional network on handwritten digits: {@code Train DIGITS.safetensors OUT_DIR}.
 *
 * <p>Writes into OUT_DIR the weights (model.safetensors, and model.pt for Python), what happened (run.safetensors) and two pictures
 * (curves.svg, confusion.svg), and ends with one JSON line. The recipe is that of tests/oracle/digits_reference.py: the same random
 * numbers in the same order, so the losses are PyTorch's.
 */
public final class Train {
    private static final int BATCH = 64;
    private static final int EPOCHS = 12;
    private static final int BATCHES = (Digits.TRAIN + BATCH - 1) / BATCH;

    private Train() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("usage: Train DIGITS.safetensors OUT_DIR");
            System.exit(2);
        }
        // Tensors created within a scope are freed at its end; a module owns its parameters, so it is closed explicitly.
        try (Scope scope = new Scope()) {
            Digits all = Digits.load(Path.of(arguments[0]));
            Torch.manualSeed(0);
            Digits.Split split = all.split();
            try (Net model = new Net()) {
                run(model, split, Path.of(arguments[1]));
            }
        }
    }

    private static void run(Net model, Digits.Split split, Path out) throws IOException {
        long start = System.nanoTime();
        History history = train(model, split);
        double seconds = (System.nanoTime() - start) / 1e9;

        Tensor logits = model.logits(split.test().images());
        model.save(out.resolve("model.safetensors"));
        model.save(out.resolve("model.pt"));
        history.save(logits, out.resolve("run.safetensors"));
        Curves.draw(history, out.resolve("curves.svg"));
        Confusion.draw(logits, split.test(), out.resolve("confusion.svg"));
        System.out.println("{\"lang\":\"java\",\"test_accuracy\":" + Evaluation.accuracy(logits, split.test().labels())
                + ",\"first_loss\":" + history.losses().select(0, 0).item().floatValue()
                + ",\"last_loss\":" + history.losses().select(0, -1).item().floatValue()
                + ",\"train_seconds\":" + String.format(Locale.ROOT, "%.3f", seconds) + "}");
    }

    private static History train(Net model, Digits.Split split) {
        History history = History.of(EPOCHS, BATCHES);
        try (AdamW optimizer = new AdamW(model.parameters(), new AdamW.Options(0.01).withWeightDecay(0.01))) {
            StepLR rate = new StepLR(optimizer, 4, 0.3);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                Progress progress = new Progress(String.format("Java epoch %2d/%d", epoch + 1, EPOCHS));
                try (Scope scope = new Scope()) {
                    Tensor losses = history.losses().narrow(0, epoch * BATCHES, BATCHES);
                    trainEpoch(model, optimizer, split.train(), losses, progress);
                    rate.step();
                    double accuracy = test(model, split.test(), history, epoch);
                    progress.done(losses.mean(DType.FLOAT64).item().doubleValue(), accuracy);
                }
            }
        }
        return history;
    }

    /** One pass over the images in a new order; the loss of each batch is stored in {@code losses}. */
    private static void trainEpoch(Net model, AdamW optimizer, Digits train, Tensor losses, Progress progress) {
        model.train();
        Tensor permutation = Torch.randperm(Digits.TRAIN);
        for (int batch = 0; batch < BATCHES; batch++) {
            try (Scope temporaries = new Scope()) {
                Digits rows = train.rows(permutation.slice(0, batch * BATCH, (batch + 1) * BATCH));
                optimizer.zeroGrad();
                Tensor loss = Functional.crossEntropy(model.forward(rows.images()), rows.labels());
                loss.backward();
                optimizer.step();
                losses.select(0, batch).copy_(loss.detach());
                progress.show(batch + 1, BATCHES);
            }
        }
    }

    /** The loss and the accuracy on the test rows, as one entry of the history. */
    private static double test(Net model, Digits test, History history, int epoch) {
        Tensor logits = model.logits(test.images());
        double accuracy = Evaluation.accuracy(logits, test.labels());
        history.testLosses().select(0, epoch).copy_(Functional.crossEntropy(logits, test.labels()));
        history.testAccuracies().select(0, epoch).fill_(accuracy);
        return accuracy;
    }
}
