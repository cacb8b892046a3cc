package digits;

import java.nio.file.Path;
import java.util.Map;
import org.rushlight.DType;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.nn.Dropout;
import org.rushlight.nn.Linear;
import org.rushlight.nn.ReLU;
import org.rushlight.nn.Sequential;

/** The data and the model. Every number is made by operators. */
record Digits(Tensor images, Tensor labels) {
    /** Reads the data: images as float32 in [0, 1], labels as int64. */
    static Digits load(Path file) {
        Map<String, Tensor> tensors = StateDict.load(file);
        return new Digits(tensors.get("images").to(DType.FLOAT32).div_(16), tensors.get("labels"));
    }

    /** The rows that an int64 tensor names. */
    Digits rows(Tensor rows) {
        return new Digits(images.index_select(0, rows), labels.index_select(0, rows));
    }

    static Sequential makeModel() {
        return new Sequential(
                new Linear(64, 128), new ReLU(), new Dropout(0.1), new Linear(128, 64), new ReLU(), new Linear(64, 10));
    }
}
