package org.rushlight;

/** A setting that ends when it is closed. Closing it twice does nothing: the setting may be somebody else's by then. */
abstract class Guard implements AutoCloseable {
    private boolean closed;

    Guard() {}

    /** Restores what was before. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            restore();
        }
    }

    abstract void restore();
}
