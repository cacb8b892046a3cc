package org.rushlight;

/** An index or dimension out of range: PyTorch's {@code IndexError}. */
public final class TensorIndexException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public TensorIndexException(String message) {
        super(message);
    }
}
