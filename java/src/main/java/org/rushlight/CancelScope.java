package org.rushlight;

import org.jspecify.annotations.Nullable;

/**
 * Between its creation and {@link #close}, calls of this thread end with {@link CancelledException} once the token is
 * cancelled or its deadline has passed. Scopes nest: each of their tokens ends a call. Guards are closed in reverse order of
 * opening, on the thread that opened them; a virtual thread needs {@link Torch#pinned}.
 *
 * <pre>{@code
 * try (CancelToken token = new CancelToken()) {
 *     token.cancel();
 *     try (CancelScope scope = new CancelScope(token)) {
 *         Torch.zeros(2);
 *     } catch (CancelledException e) {
 *         System.out.println("cancelled"); // cancelled
 *     }
 *     System.out.println(Torch.zeros(2)); // tensor([0., 0.])
 * }
 * }</pre>
 */
public final class CancelScope extends Guard {
    private final CancelToken token;
    private final InterruptWatch.@Nullable Watched watched;

    /**
     * Enters a token on this thread.
     *
     * @param token the token; if it is closed before this scope, it stays in effect until then
     * @throws IllegalStateException if the token is closed
     */
    public CancelScope(CancelToken token) {
        this.token = token;
        watched = null;
        token.enter();
        inForce();
    }

    private CancelScope() {
        token = new CancelToken();
        watched = InterruptWatch.add(Thread.currentThread(), token);
        try {
            token.enter();
        } catch (Throwable e) {
            InterruptWatch.remove(watched);
            token.close();
            throw e;
        }
        inForce();
    }

    /**
     * Begins a scope in which calls of this thread end with {@link CancelledException} once the thread is interrupted,
     * running operators included: at most about 50 milliseconds later. The thread stays interrupted.
     *
     * <pre>{@code
     * try (Tensor a = Torch.zeros(2); CancelScope scope = CancelScope.onInterrupt()) {
     *     Thread.currentThread().interrupt();
     *     while (true) {
     *         a.add_(1);
     *     }
     * } catch (CancelledException e) {
     *     System.out.println("interrupted: " + Thread.interrupted()); // interrupted: true
     * }
     * }</pre>
     *
     * @return the scope, which ends with {@link #close}
     */
    public static CancelScope onInterrupt() {
        return new CancelScope();
    }

    @Override
    void restore() {
        token.leave();
        if (watched != null) {
            InterruptWatch.remove(watched);
            token.close();
        }
    }
}
