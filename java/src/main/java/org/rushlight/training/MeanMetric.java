package org.rushlight.training;

import java.util.function.ToDoubleBiFunction;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/**
 * The mean of a number of each batch, weighted by the number of examples: {@code sum(value * examples) / sum(examples)}.
 *
 * <pre>{@code
 * MeanMetric error = new MeanMetric("mae", (preds, target) -> preds.sub(target).abs().mean().item().doubleValue());
 * error.update(Tensor.of(1f, 2f), Tensor.of(2f, 2f));
 * error.update(Tensor.of(5f), Tensor.of(3f));
 * System.out.println(error.compute()); // 1.0
 * }</pre>
 */
public final class MeanMetric extends Ratio {
    private final ToDoubleBiFunction<Tensor, Tensor> value;

    /**
     * Creates a metric.
     *
     * @param name its name in results
     * @param value the number of a batch, from predictions and targets; its temporaries are freed
     */
    public MeanMetric(String name, ToDoubleBiFunction<Tensor, Tensor> value) {
        super(name);
        this.value = value;
    }

    @Override
    public void update(Tensor preds, Tensor target) {
        long examples = target.dim() == 0 ? 1 : target.size(0);
        try (Scope scope = new Scope()) {
            assert scope != null;
            add(value.applyAsDouble(preds, target) * examples, examples);
        }
    }
}
