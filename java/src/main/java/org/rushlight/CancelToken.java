package org.rushlight;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.rushlight.internal.NativeCore;

/**
 * Cancels the calls of those threads that have entered it with a {@link CancelScope}: a server ends one request and no
 * other. Running operators and backward passes end with {@link CancelledException}.
 *
 * <pre>{@code
 * try (CancelToken token = new CancelToken().withTimeout(java.time.Duration.ofSeconds(5)); CancelScope scope = new CancelScope(token)) {
 *     System.out.println(Torch.ones(2)); // tensor([1., 1.])
 *     token.cancel();
 *     try {
 *         Torch.ones(2);
 *     } catch (CancelledException e) {
 *         System.out.println("cancelled: " + token.isCancelled()); // cancelled: true
 *     }
 * }
 * }</pre>
 *
 * <p>Tensors that a cancelled call was writing to hold unspecified values.
 */
public final class CancelToken extends NativeOwner {
    private CancelToken(Release release) {
        super(release.handle(), release);
    }

    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeCore.cancelTokenFree(handle);
        }
    }

    /** Creates a token that is not cancelled and has no deadline. */
    public CancelToken() {
        this(new Release(NativeCore.cancelTokenNew()));
    }

    @Override
    String label() {
        return "the cancel token";
    }

    /** Cancels the calls of the threads that have entered the token, for good. Any thread may call it. */
    public void cancel() {
        acquire(this);
        try {
            NativeCore.cancelTokenCancel(handle());
        } finally {
            release(this);
        }
    }

    /**
     * Sets the deadline: the token is cancelled when this much time has passed from now. Any thread may call it.
     *
     * @param timeout the time
     * @return this token
     * @throws IllegalArgumentException if it is negative
     */
    public CancelToken withTimeout(Duration timeout) {
        acquire(this);
        try {
            if (timeout.isNegative()) {
                throw new IllegalArgumentException("a timeout must not be negative: " + timeout);
            }
            NativeCore.cancelTokenSetTimeout(handle(), TimeUnit.NANOSECONDS.convert(timeout));
            return this;
        } finally {
            release(this);
        }
    }

    /**
     * Removes the deadline, also one that has passed. Any thread may call it.
     *
     * @return this token
     */
    public CancelToken clearTimeout() {
        acquire(this);
        try {
            NativeCore.cancelTokenSetTimeout(handle(), -1);
            return this;
        } finally {
            release(this);
        }
    }

    /**
     * Returns whether the token is cancelled or its deadline has passed.
     *
     * @return true if so
     */
    public boolean isCancelled() {
        acquire(this);
        try {
            return NativeCore.cancelTokenIsCancelled(handle());
        } finally {
            release(this);
        }
    }

    void enter() {
        acquire(this);
        try {
            NativeCore.cancelTokenEnter(handle());
        } catch (Throwable e) {
            release(this);
            throw e;
        }
    }

    /** Ends what {@link #enter} began: in between, closing the token leaves its handle valid. */
    void leave() {
        try {
            NativeCore.cancelTokenLeave(handle());
        } finally {
            release(this);
        }
    }
}
