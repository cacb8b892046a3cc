package org.rushlight;

/** An argument of the wrong type or dtype: PyTorch's {@code TypeError}. */
public final class TensorTypeException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public TensorTypeException(String message) {
        super(message);
    }
}
