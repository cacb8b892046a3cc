package org.rushlight.data;

import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * A dataset of two tensors, indexed along their first dimensions.
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
     * Creates a dataset of two tensors, to which it keeps its own references.
     *
     * @param data the data, one example for each index of the first dimension
     * @param targets the targets, of the same length
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
     * Returns all data.
     *
     * @return a tensor owned by this dataset
     */
    public Tensor data() {
        return data;
    }

    /**
     * Returns all targets.
     *
     * @return a tensor owned by this dataset
     */
    public Tensor targets() {
        return targets;
    }

    /** Releases the references to the tensors. */
    @Override
    public void close() {
        data.close();
        targets.close();
    }
}
