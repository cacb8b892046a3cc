package digits;

import java.util.Locale;

/** A progress line on standard error. Without a terminal it keeps silent until an epoch is done. */
final class Progress {
    private static final int WIDTH = 30;
    private static final boolean TERMINAL = System.console() != null;
    private final String label;

    Progress(String label) {
        this.label = label;
    }

    void show(int done, int total) {
        if (TERMINAL) {
            int filled = done * WIDTH / total;
            System.err.printf("\r%s [%s%s] %d/%d", label, "#".repeat(filled), ".".repeat(WIDTH - filled), done, total);
        }
    }

    /** Replaces the bar by a line that stays. */
    void done(double loss, double accuracy) {
        String start = TERMINAL ? "\r\033[K" : "";
        System.err.printf(Locale.ROOT, "%s%s  loss %.4f  test accuracy %.4f%n", start, label, loss, accuracy);
    }
}
