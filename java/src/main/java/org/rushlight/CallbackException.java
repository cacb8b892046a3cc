package org.rushlight;

/** A callback reported failure without an exception of its own. */
public final class CallbackException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public CallbackException(String message) {
        super(message);
    }
}
