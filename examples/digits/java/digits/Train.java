package digits;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.rushlight.DType;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.Torch;
import org.rushlight.nn.Functional;
import org.rushlight.nn.Sequential;
import org.rushlight.optim.Adam;

/**
 * Trains a small network on handwritten digits: {@code Train DIGITS.safetensors OUT_DIR}.
 *
 * <p>Writes model.safetensors, confusion.png and losses.png into OUT_DIR and ends with one JSON line. The recipe is that of
 * tests/oracle/mlp_reference.py: the same random numbers in the same order, so the losses are PyTorch's.
 */
public final class Train {
    private static final int TRAIN = 1437;
    private static final int ALL = 1797;
    private static final int BATCH = 64;
    private static final int EPOCHS = 15;
    private static final int BATCHES = (TRAIN + BATCH - 1) / BATCH;

    private Train() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("usage: Train DIGITS.safetensors OUT_DIR");
            System.exit(2);
        }
        Path out = Path.of(arguments[1]);
        try (Scope scope = new Scope()) {
            Digits all = Digits.load(Path.of(arguments[0]));
            Torch.manualSeed(0);
            try (Sequential model = Digits.makeModel()) {
                train(model, all, out);
            }
        }
    }

    private static void train(Sequential model, Digits all, Path out) throws IOException {
        Tensor order = Torch.randperm(ALL);
        Digits train = all.rows(order.slice(0, 0, TRAIN));
        Digits test = all.rows(order.slice(0, TRAIN, ALL));
        Tensor losses = Torch.zeros(EPOCHS * BATCHES);
        double accuracy = 0;
        long start = System.nanoTime();
        try (Adam optimizer = new Adam(model.parameters(), 3e-3)) {
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                Progress progress = new Progress(String.format("Java epoch %2d/%d", epoch + 1, EPOCHS));
                try (Scope scope = new Scope()) {
                    trainEpoch(model, optimizer, train, losses.narrow(0, epoch * BATCHES, BATCHES), progress);
                    accuracy = Evaluation.accuracy(Evaluation.predict(model, test.images()), test.labels());
                    Tensor mean = losses.narrow(0, epoch * BATCHES, BATCHES).mean(DType.FLOAT64);
                    progress.done(mean.item().doubleValue(), accuracy);
                }
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;

        Tensor counts = Evaluation.confusionMatrix(Evaluation.predict(model, test.images()), test.labels());
        System.err.println(counts);
        Pictures.drawConfusion(counts, out.resolve("confusion.png"));
        Pictures.drawLosses(losses, out.resolve("losses.png"));
        model.save(out.resolve("model.safetensors"));
        System.out.println("{\"lang\":\"java\",\"test_accuracy\":" + accuracy
                + ",\"first_loss\":" + losses.select(0, 0).item().doubleValue()
                + ",\"loss_step_20\":" + losses.select(0, 19).item().doubleValue()
                + ",\"train_seconds\":" + String.format(Locale.ROOT, "%.3f", seconds) + "}");
    }

    private static void trainEpoch(Sequential model, Adam optimizer, Digits train, Tensor losses, Progress progress) {
        model.train();
        Tensor permutation = Torch.randperm(TRAIN);
        for (int batch = 0; batch < BATCHES; batch++) {
            try (Scope temporaries = new Scope()) {
                Digits rows = train.rows(permutation.slice(0, batch * BATCH, (batch + 1) * BATCH));
                optimizer.zeroGrad();
                Tensor loss = Functional.nllLoss(Functional.logSoftmax(model.forward(rows.images()), 1), rows.labels());
                loss.backward();
                optimizer.step();
                losses.select(0, batch).copy_(loss.detach());
                progress.show(batch + 1, BATCHES);
            }
        }
    }
}
