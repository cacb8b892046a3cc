package org.rushlight;

/** A linear algebra routine did not converge or met a singular matrix: PyTorch's {@code LinAlgError}. */
public final class LinAlgException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Made by the native side, or by a callback that wants to report this kind of error.
     *
     * @param message what went wrong
     */
    public LinAlgException(String message) {
        super(message);
    }
}
