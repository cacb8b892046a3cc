package org.rushlight;

/** A native allocation failed. */
public final class OutOfNativeMemoryException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public OutOfNativeMemoryException(String message) {
        super(message);
    }
}
