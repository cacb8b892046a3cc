package org.rushlight.inference;

import org.rushlight.RushlightException;

/** A request of a {@link Predictor} has no result when its time is over. */
public final class PredictionTimeoutException extends RushlightException {
    private static final long serialVersionUID = 1;

    PredictionTimeoutException(long millis) {
        super("the request has no result after " + millis + " ms");
    }
}
