package digits;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.rushlight.DType;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;

/** The results of training: the loss of each step, and for each epoch the loss and the accuracy on the test rows. */
record History(Tensor losses, Tensor testLosses, Tensor testAccuracies) {
    /** A history of zeros, to be filled. */
    static History of(int epochs, int batches) {
        Tensor accuracies = Torch.zeros(new long[] {epochs}, TensorOptions.of(DType.FLOAT64));
        return new History(Torch.zeros(epochs * batches), Torch.zeros(epochs), accuracies);
    }

    /** Writes the history, with the final scores on the test rows. */
    void save(Tensor logits, Path file) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("losses", losses);
        tensors.put("test_losses", testLosses);
        tensors.put("test_accuracies", testAccuracies);
        tensors.put("logits", logits);
        StateDict.save(tensors, file);
    }
}
