package digits;

import org.rushlight.DType;
import org.rushlight.NoGrad;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;
import org.rushlight.nn.Sequential;

/** What a model gets right. */
final class Evaluation {
    private Evaluation() {}

    /** The class that the model gives each image. */
    static Tensor predict(Sequential model, Tensor images) {
        try (NoGrad guard = new NoGrad()) {
            model.eval();
            return model.forward(images).argmax(1);
        }
    }

    static double accuracy(Tensor predicted, Tensor labels) {
        return predicted.eq(labels).mean(DType.FLOAT64).item().doubleValue();
    }

    /** Counts, int64 [10, 10]: row = the digit, column = what the model says. */
    static Tensor confusionMatrix(Tensor predicted, Tensor labels) {
        Tensor cell = labels.mul(10).add(predicted);
        Tensor counts = Torch.zeros(new long[] {100}, TensorOptions.of(DType.INT64));
        return counts.index_add_(0, cell, Torch.ones_like(cell)).view(10, 10);
    }
}
