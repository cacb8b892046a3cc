package org.rushlight.data;

import org.rushlight.RushlightException;

/** A worker of a {@link DataLoader} failed: the cause is the exception of a dataset, a transform or a collate function. */
public final class WorkerException extends RushlightException {
    private static final long serialVersionUID = 1;

    WorkerException(Throwable cause) {
        super("Caught " + cause.getClass().getName() + " in a DataLoader worker thread. Original message: " + cause.getMessage());
        initCause(cause);
    }
}
