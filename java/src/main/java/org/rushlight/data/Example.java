package org.rushlight.data;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Data and what a model should say of it: a single example, or a batch of them.
 *
 * @param data the data
 * @param target the label, or whatever is learned
 */
public record Example(Tensor data, Tensor target) {
    /**
     * Examples as a batch: the tensors stacked along a new first dimension.
     *
     * @param examples examples of equal shapes
     * @return the batch
     */
    public static Example stack(List<Example> examples) {
        return new Example(
            Torch.stack(examples.stream().map(Example::data).toArray(Tensor[]::new)),
            Torch.stack(examples.stream().map(Example::target).toArray(Tensor[]::new)));
    }
}
