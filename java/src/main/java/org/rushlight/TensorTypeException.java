package org.rushlight;

/** An argument of the wrong type or dtype: PyTorch's {@code TypeError}. */
public final class TensorTypeException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public TensorTypeException(String message) {
        super(message);
    }
}
