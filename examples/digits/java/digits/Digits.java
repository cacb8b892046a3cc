package digits;

import java.nio.file.Path;
import java.util.Map;
import org.rushlight.DType;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/** Images as float32 in [0, 1], [N, 1, 8, 8], and labels as int64. */
record Digits(Tensor images, Tensor labels) {
    /** How many images are for training. */
    static final int TRAIN = 1437;

    /** Which images are for training and which for the test. */
    record Split(Digits train, Digits test) {}

    static Digits load(Path file) {
        Map<String, Tensor> tensors = StateDict.load(file);
        return new Digits(tensors.get("images").to(DType.FLOAT32).div_(16).view(-1, 1, 8, 8), tensors.get("labels"));
    }

    /** The rows that an int64 tensor names. */
    Digits rows(Tensor rows) {
        return new Digits(images.index_select(0, rows), labels.index_select(0, rows));
    }

    /** Draws the split. After the same seed every program draws the same. */
    Split split() {
        Tensor order = Torch.randperm(labels.size(0));
        return new Split(rows(order.slice(0, 0, TRAIN)), rows(order.slice(0, TRAIN)));
    }
}
