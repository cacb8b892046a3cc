package org.rushlight.training;

import java.util.Arrays;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/**
 * The fraction of correct predictions, {@code correct / all}, as {@code torchmetrics.Accuracy} computes it with {@code
 * average="micro"}.
 *
 * <p>Predictions with one more dimension than the targets are scores of classes along dimension 1: the largest one
 * counts. Floating-point predictions of the shape of the targets are probabilities, or logits if one is not from 0 to 1:
 * above 0.5 they predict class 1. Others are classes.
 *
 * <pre>{@code
 * Accuracy accuracy = new Accuracy();
 * accuracy.update(Tensor.of(new float[][] {{2, 1}, {0, 3}, {1, 0}}), Tensor.of(0L, 1L, 1L));
 * System.out.println((float) accuracy.compute()); // 0.6666667
 * }</pre>
 */
public final class Accuracy extends Ratio {
    /** Creates the metric. */
    public Accuracy() {
        super("accuracy");
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the shapes do not fit
     */
    @Override
    public void update(Tensor preds, Tensor target) {
        try (Scope scope = new Scope()) {
            assert scope != null;
            Tensor classes = classes(preds, target);
            if (!Arrays.equals(classes.shape(), target.shape())) {
                throw new IllegalArgumentException("predictions of shape " + Arrays.toString(preds.shape()) + " do not fit targets of shape "
                    + Arrays.toString(target.shape()));
            }
            add(classes.eq(target).sum().item().doubleValue(), target.numel());
        }
    }

    private static Tensor classes(Tensor preds, Tensor target) {
        if (preds.dim() == target.dim() + 1) {
            return preds.argmax(1L);
        }
        if (!preds.dtype().isFloatingPoint()) {
            return preds;
        }
        boolean logits = preds.lt(0).logicalOr(preds.gt(1)).any().item().longValue() != 0;
        return (logits ? preds.sigmoid() : preds).gt(0.5).to(target.dtype());
    }
}
