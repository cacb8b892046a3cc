package org.rushlight;

/** A native allocation failed. */
public final class OutOfNativeMemoryException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public OutOfNativeMemoryException(String message) {
        super(message);
    }
}
