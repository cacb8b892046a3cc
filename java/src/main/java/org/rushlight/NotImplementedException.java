package org.rushlight;

/** No kernel, layer or option for this combination: PyTorch's {@code NotImplementedError}. */
public final class NotImplementedException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public NotImplementedException(String message) {
        super(message);
    }
}
