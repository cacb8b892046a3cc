package org.rushlight.data;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * Examples that lie in two tensors, one along their first dimensions each.
 *
 * <pre>{@code
 * try (TensorDataset points = new TensorDataset(Torch.arange(6).view(3, 2), Tensor.of(0L, 1L, 0L))) {
 *     Example second = points.get(1);
 *     System.out.println(points.size() + " " + second.data() + " " + second.target()); // 3 tensor([2, 3]) tensor(1)
 * }
 * }</pre>
 */
public final class TensorDataset implements Dataset<Example> {
    private final Tensor data;
    private final Tensor targets;

    /**
     * Examples of two tensors. The dataset keeps shares of its own in them.
     *
     * @param data the data, one example for each index of the first dimension
     * @param targets the targets, likewise
     */
    public TensorDataset(Tensor data, Tensor targets) {
        if (data.dim() == 0 || targets.dim() == 0 || data.size(0) != targets.size(0)) {
            throw new TensorValueException("data and targets have first dimensions of different sizes");
        }
        this.data = data.share().unscoped();
        this.targets = targets.share().unscoped();
    }

    @Override
    public Example get(long index) {
        return new Example(data.select(0, index), targets.select(0, index));
    }

    @Override
    public long size() {
        return data.size(0);
    }

    /**
     * All data.
     *
     * @return a tensor of this dataset
     */
    public Tensor data() {
        return data;
    }

    /**
     * All targets.
     *
     * @return a tensor of this dataset
     */
    public Tensor targets() {
        return targets;
    }

    /** Gives the shares in the tensors back. */
    @Override
    public void close() {
        data.close();
        targets.close();
    }
}
