package org.rushlight;

/** A linear algebra routine did not converge or met a singular matrix: PyTorch's {@code LinAlgError}. */
public final class LinAlgException extends RushlightException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error of this kind.
     *
     * @param message the error message
     */
    public LinAlgException(String message) {
        super(message);
    }
}
