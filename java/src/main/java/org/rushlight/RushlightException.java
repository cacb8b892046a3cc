package org.rushlight;

import org.rushlight.internal.Memory;

/**
 * Base class of native errors, with the message of the C interface: it names the operator, shapes and dtypes.
 * Subclasses distinguish the kinds; an error that PyTorch reports as plain {@code RuntimeError} has this class itself.
 */
public class RushlightException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * Called by the native side, or by a callback to report an error.
     *
     * @param message the error message
     */
    public RushlightException(String message) {
        super(message);
    }

    /** Called by the native side: creates the exception for a frozen error number of the C interface. */
    static RuntimeException of(int code, String message) {
        return switch (code) {
            case 2 -> new TensorIndexException(message);
            case 3 -> new TensorValueException(message);
            case 4 -> new TensorTypeException(message);
            case 5 -> new NotImplementedException(message);
            case 6 -> new OutOfNativeMemoryException(message + Memory.advice());
            case 7 -> new LinAlgException(message);
            case 8 -> new NullPointerException(message);
            case 9 -> new IllegalStateException(message);
            case 10 -> new CancelledException(message);
            case 11 -> new CallbackException(message);
            case 12 -> new RushlightIOException(message);
            case 13 -> new InternalErrorException(message);
            case 14 -> new UnknownOperatorException(message);
            default -> new RushlightException(message);
        };
    }
}
