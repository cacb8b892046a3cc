package org.rushlight;

/** No kernel, layer or option for this combination: PyTorch's {@code NotImplementedError}. */
public final class NotImplementedException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public NotImplementedException(String message) {
        super(message);
    }
}
