package org.rushlight;

/** An index or dimension out of range: PyTorch's {@code IndexError}. */
public final class TensorIndexException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public TensorIndexException(String message) {
        super(message);
    }
}
