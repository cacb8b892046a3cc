package org.rushlight;

import java.util.function.Consumer;

/**
 * Base class of options. They are immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the type of the options itself
 */
public abstract class CopiedOptions<O extends CopiedOptions<O>> implements Cloneable {
    /** Constructor for options of custom classes. */
    protected CopiedOptions() {}

    /**
     * Returns a changed copy, for the {@code with} methods of subclasses.
     *
     * @param change sets fields of the copy
     * @return the copy
     */
    @SuppressWarnings("unchecked")
    protected final O with(Consumer<O> change) {
        try {
            O copy = (O) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("options can be copied", e);
        }
    }
}
