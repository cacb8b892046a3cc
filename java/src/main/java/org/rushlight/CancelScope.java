package org.rushlight;

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

    /**
     * Enters a token on this thread.
     *
     * @param token the token; if it is closed before this scope, it stays in effect until then
     * @throws IllegalStateException if the token is closed
     */
    public CancelScope(CancelToken token) {
        this.token = token;
        token.enter();
        inForce();
    }

    @Override
    void restore() {
        token.leave();
    }
}
