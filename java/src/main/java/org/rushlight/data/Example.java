package org.rushlight.data;

import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.Torch;

/**
 * Data and the corresponding target: a single example, or a batch of examples.
 *
 * <pre>{@code
 * Example both = Example.stack(List.of(new Example(Tensor.of(1f, 2f), Tensor.scalar(0)), new Example(Tensor.of(3f, 4f), Tensor.scalar(1))));
 * System.out.println(Arrays.toString(both.data().shape()) + " " + both.target()); // [2, 2] tensor([0, 1])
 * }</pre>
 *
 * @param data the data
 * @param target the target, such as a label
 */
public record Example(Tensor data, Tensor target) {
    /**
     * Stacks examples along a new first dimension.
     *
     * @param examples examples with equal shapes
     * @return the batch
     */
    public static Example stack(List<Example> examples) {
        return new Example(
            Torch.stack(examples.stream().map(Example::data).toArray(Tensor[]::new)),
            Torch.stack(examples.stream().map(Example::target).toArray(Tensor[]::new)));
    }
}
