package digits;

import java.nio.file.Path;
import java.util.Map;
import org.rushlight.DType;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/** Images as float32 in [0, 1], [N, 1, 8, 8], and labels as int64. */
record Digits(Tensor images, Tensor labels) {
    /** Number of training images. */
    static final int TRAIN = 1437;

    /** The indices of the training and the test images. */
    record Split(Digits train, Digits test) {}

    static Digits load(Path file) {
        Map<String, Tensor> tensors = StateDict.load(file);
        return new Digits(tensors.get("images").to(DType.FLOAT32).div_(16).view(-1, 1, 8, 8), tensors.get("labels"));
    }

    /** The rows that an int64 tensor selects. */
    Digits rows(Tensor rows) {
        return new Digits(images.indexSelect(0, rows), labels.indexSelect(0, rows));
    }

    /** Samples the split. With the same seed every program gets the same one. */
    Split split() {
        Tensor order = Torch.randperm(labels.size(0));
        return new Split(rows(order.slice(0, 0, TRAIN)), rows(order.slice(0, TRAIN)));
    }
}
