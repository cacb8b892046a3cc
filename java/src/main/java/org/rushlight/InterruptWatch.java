package org.rushlight;

import java.util.ArrayList;
import java.util.List;

/**
 * Cancels the tokens of threads that are interrupted. Java tells nobody of {@link Thread#interrupt}, and a thread in a native
 * call cannot look itself. So one daemon thread looks at all watched threads every few milliseconds. It ends soon after the
 * last one has been removed.
 */
final class InterruptWatch {
    private static final long PERIOD_MILLIS = 10;
    /** Periods without a watched thread after which the daemon thread ends. */
    private static final int IDLE_PERIODS = 100;
    private static final List<Watched> WATCHED = new ArrayList<>();
    private static boolean running;

    private InterruptWatch() {}

    /** A thread, and the token that its interruption cancels. Two of the same thread are different. */
    static final class Watched {
        private final Thread thread;
        private final CancelToken token;

        private Watched(Thread thread, CancelToken token) {
            this.thread = thread;
            this.token = token;
        }

        /** Whether it need not be looked at again. */
        private boolean isDone() {
            if (thread.isInterrupted()) {
                token.cancel();
                return true;
            }
            return !thread.isAlive();
        }
    }

    static Watched add(Thread thread, CancelToken token) {
        Watched watched = new Watched(thread, token);
        synchronized (WATCHED) {
            WATCHED.add(watched);
            if (!running) {
                Thread looking = new Thread(InterruptWatch::look, "rushlight-interrupts");
                looking.setDaemon(true);
                looking.start();
                running = true;
            }
        }
        return watched;
    }

    /** Ends what {@link #add} began: the token may be closed afterwards. */
    static void remove(Watched watched) {
        synchronized (WATCHED) {
            WATCHED.remove(watched);
        }
    }

    private static void look() {
        int idle = 0;
        synchronized (WATCHED) {
            try {
                while (idle < IDLE_PERIODS) {
                    WATCHED.removeIf(Watched::isDone);
                    idle = WATCHED.isEmpty() ? idle + 1 : 0;
                    WATCHED.wait(PERIOD_MILLIS);
                }
            } catch (InterruptedException e) {
                // Something that ends all threads, such as a test runner. The next scope starts another one.
            } finally {
                running = false;
            }
        }
    }
}
