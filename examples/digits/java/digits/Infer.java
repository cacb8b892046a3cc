package digits;

import java.nio.file.Path;
import org.rushlight.Scope;
import org.rushlight.nn.Sequential;

/**
 * Loads a trained model and tells how much of the whole data set it gets right: {@code Infer DIGITS.safetensors MODEL}.
 *
 * <p>MODEL may come from any of the three training programs, or from PyTorch (.pt or .safetensors).
 */
public final class Infer {
    private Infer() {}

    /** Runs the program. */
    public static void main(String[] arguments) {
        if (arguments.length != 2) {
            System.err.println("usage: Infer DIGITS.safetensors MODEL");
            System.exit(2);
        }
        try (Scope scope = new Scope(); Sequential model = Digits.makeModel()) {
            Digits all = Digits.load(Path.of(arguments[0]));
            model.load(Path.of(arguments[1]));
            double right = Evaluation.accuracy(Evaluation.predict(model, all.images()), all.labels());
            System.out.printf(
                    "{\"lang\":\"java\",\"model\":\"%s\",\"images\":%d,\"accuracy\":%s}%n", arguments[1], all.labels().size(0), right);
        }
    }
}
