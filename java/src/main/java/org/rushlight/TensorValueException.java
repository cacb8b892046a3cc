package org.rushlight;

/** An argument whose value is not acceptable: PyTorch's {@code ValueError}. */
public final class TensorValueException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public TensorValueException(String message) {
        super(message);
    }
}
