package org.rushlight;

/** An argument has an invalid value: PyTorch's {@code ValueError}. */
public final class TensorValueException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public TensorValueException(String message) {
        super(message);
    }
}
