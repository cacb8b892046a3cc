import org.pytorch.IValue;
import org.pytorch.Module;
import org.pytorch.Tensor;

/** A program for PyTorch's Java API: prints the class of a green image. */
public final class Classify {
    private Classify() {}

    /**
     * Runs a saved classifier.
     *
     * @param arguments the file
     */
    public static void main(String[] arguments) {
        Module module = Module.load(arguments[0]);
        float[] image = {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0};
        float[] scores = module.forward(IValue.from(Tensor.fromBlob(image, new long[] {1, 3, 2, 2}))).toTensor().getDataAsFloatArray();
        System.out.printf("%.3f %.3f %.3f%n", scores[0], scores[1], scores[2]);
        module.destroy();
    }
}
