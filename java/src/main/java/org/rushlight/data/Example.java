package org.rushlight.data;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Data and what a model should say of it: a single example, or a batch of them.
 *
 * <pre>{@code
 * Example both = Example.stack(List.of(new Example(Tensor.of(1f, 2f), Tensor.scalar(0)), new Example(Tensor.of(3f, 4f), Tensor.scalar(1))));
 * System.out.println(Arrays.toString(both.data().shape()) + " " + both.target()); // [2, 2] tensor([0, 1])
 * }</pre>
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
