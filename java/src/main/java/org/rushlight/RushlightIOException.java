package org.rushlight;

/** A file could not be read, written or understood. */
public final class RushlightIOException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public RushlightIOException(String message) {
        super(message);
    }
}
