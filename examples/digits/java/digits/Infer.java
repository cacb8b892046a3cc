package digits;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.rushlight.Scope;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Loads trained models and reports their test accuracy:
 * {@code Infer DIGITS.safetensors LOGITS.safetensors MODEL...}.
 *
 * <p>A MODEL may come from any of the three training programs, or from Python (.pt or .safetensors). Prints one JSON line per model,
 * and writes the logits of each to LOGITS.safetensors, under the names "0", "1" and so on.
 */
public final class Infer {
    private Infer() {}

    /** Runs the program. */
    public static void main(String[] arguments) {
        if (arguments.length < 3) {
            System.err.println("usage: Infer DIGITS.safetensors LOGITS.safetensors MODEL...");
            System.exit(2);
        }
        try (Scope scope = new Scope()) {
            Digits all = Digits.load(Path.of(arguments[0]));
            Torch.manualSeed(0); // that of training: the test images are those that training has not seen
            Digits test = all.split().test();
            Map<String, Tensor> scores = new LinkedHashMap<>();
            for (int i = 2; i < arguments.length; i++) {
                Tensor logits = infer(arguments[i], test);
                scores.put(Integer.toString(i - 2), logits);
                double accuracy = Evaluation.accuracy(logits, test.labels());
                System.out.println("{\"lang\":\"java\",\"model\":\"" + arguments[i] + "\",\"test_accuracy\":" + accuracy + "}");
            }
            StateDict.save(scores, Path.of(arguments[1]));
        }
    }

    private static Tensor infer(String model, Digits test) {
        try (Net net = new Net()) {
            net.load(Path.of(model));
            return net.logits(test.images());
        }
    }
}
