package org.rushlight.training;

import org.rushlight.Tensor;

/** A number that summarizes predictions of several batches, as in torchmetrics. */
public interface Metric {
    /**
     * Returns the name of the metric in results.
     *
     * @return the name
     */
    String name();

    /**
     * Adds the predictions of a batch.
     *
     * @param preds predictions of the model
     * @param target the targets
     */
    void update(Tensor preds, Tensor target);

    /**
     * Returns the metric of all predictions since the last reset.
     *
     * @return the number; NaN without predictions
     */
    double compute();

    /** Forgets all predictions. */
    void reset();
}
