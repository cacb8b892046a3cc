package org.rushlight.training;

import org.jspecify.annotations.Nullable;

/**
 * Is called by {@link Training#fit}, on its thread. An exception of a listener ends the training. Every method does
 * nothing by default.
 */
public interface TrainingListener {
    /**
     * Called before an epoch.
     *
     * @param training the training; {@link Training#stop} ends it
     * @param epoch number of the epoch, starting at 1
     * @param epochs number of epochs
     */
    default void onEpochBegin(Training training, int epoch, int epochs) {}

    /**
     * Called after each step of the optimizer.
     *
     * @param training the training
     * @param batch number of the batch in its epoch, starting at 1
     * @param loss loss of the batch
     * @param soFar loss and metrics of the epoch until now
     */
    default void onBatchEnd(Training training, long batch, double loss, Evaluation soFar) {}

    /**
     * Called after an epoch.
     *
     * @param training the training
     * @param epoch number of the epoch, starting at 1
     * @param trained loss and metrics of the epoch
     * @param validated those of the validation, or null if there is none
     */
    default void onEpochEnd(Training training, int epoch, Evaluation trained, @Nullable Evaluation validated) {}
}
