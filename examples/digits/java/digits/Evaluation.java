package digits;

import org.rushlight.DType;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;

/** Evaluation of scores. */
final class Evaluation {
    private Evaluation() {}

    /** The accuracy: the share of rows whose highest score is the label's. */
    static double accuracy(Tensor logits, Tensor labels) {
        return logits.argmax(1).eq(labels).mean(DType.FLOAT64).item().doubleValue();
    }

    /** Counts, int64 [10, 10]: row = the digit, column = the prediction. */
    static Tensor confusionMatrix(Tensor logits, Tensor labels) {
        Tensor cell = labels.mul(10).add(logits.argmax(1));
        Tensor counts = Torch.zeros(new long[] {100}, TensorOptions.of(DType.INT64));
        return counts.indexAdd_(0, cell, Torch.onesLike(cell)).view(10, 10);
    }
}
