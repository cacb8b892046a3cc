package org.rushlight;

/** The cancel flag was set while an operator ran. */
public final class CancelledException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public CancelledException(String message) {
        super(message);
    }
}
