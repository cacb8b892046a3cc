package org.rushlight;

/** No operator has this name or overload, or its family is not in this build. */
public final class UnknownOperatorException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public UnknownOperatorException(String message) {
        super(message);
    }
}
