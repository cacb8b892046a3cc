package org.rushlight;

/** A file could not be read, written or parsed. */
public final class RushlightIOException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public RushlightIOException(String message) {
        super(message);
    }
}
