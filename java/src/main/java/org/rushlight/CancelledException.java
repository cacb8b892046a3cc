package org.rushlight;

/** Thrown by an operator after its {@link CancelToken} was cancelled or its deadline has passed, or while the cancel flag is set. */
public final class CancelledException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public CancelledException(String message) {
        super(message);
    }
}
