package org.rushlight.inference;

import org.rushlight.RushlightException;

/** The model of a {@link Predictor} failed for a request: the cause is what the model threw. */
public final class PredictionException extends RushlightException {
    private static final long serialVersionUID = 1;

    PredictionException(Throwable cause) {
        super("the model failed: " + cause);
        initCause(cause);
    }
}
