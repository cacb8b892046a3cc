package org.rushlight;

/** A bug in Rushlight: a panic that was caught at the border. */
public final class InternalErrorException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public InternalErrorException(String message) {
        super(message);
    }
}
