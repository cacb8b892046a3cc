package org.rushlight;

/** Values of the {@code reduction} argument of losses. */
public final class Reduction {
    /** No reduction: one loss per element. */
    public static final long NONE = 0;
    /** The (weighted) mean of the losses: the default. */
    public static final long MEAN = 1;
    /** The sum of the losses. */
    public static final long SUM = 2;

    private Reduction() {}
}
