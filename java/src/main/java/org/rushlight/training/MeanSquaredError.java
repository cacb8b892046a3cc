package org.rushlight.training;

import org.rushlight.Scope;
import org.rushlight.Tensor;

/**
 * The mean squared error, {@code sum((preds - target)^2) / n} over all {@code n} elements, as {@code
 * torchmetrics.MeanSquaredError}.
 *
 * <pre>{@code
 * MeanSquaredError error = new MeanSquaredError();
 * error.update(Tensor.of(0f, 2f), Tensor.of(1f, 4f));
 * System.out.println(error.compute()); // 2.5
 * }</pre>
 */
public final class MeanSquaredError extends Ratio {
    /** Creates the metric. */
    public MeanSquaredError() {
        super("mse");
    }

    @Override
    public void update(Tensor preds, Tensor target) {
        try (Scope scope = new Scope()) {
            assert scope != null;
            add(preds.sub(target.viewAs(preds)).square().sum().item().doubleValue(), target.numel());
        }
    }
}
