package org.rushlight;

/** A callback failed without its own exception. */
public final class CallbackException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public CallbackException(String message) {
        super(message);
    }
}
