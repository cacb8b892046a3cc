package org.rushlight;

/** A bug in Rushlight: a panic that was caught at the ABI boundary. */
public final class InternalErrorException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public InternalErrorException(String message) {
        super(message);
    }
}
