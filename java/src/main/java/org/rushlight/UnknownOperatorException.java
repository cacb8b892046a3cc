package org.rushlight;

/** No operator of that name or overload, or its family is not in this build. */
public final class UnknownOperatorException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public UnknownOperatorException(String message) {
        super(message);
    }
}
