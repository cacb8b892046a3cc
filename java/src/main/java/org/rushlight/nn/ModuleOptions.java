package org.rushlight.nn;

import java.util.function.Consumer;

/**
 * What the options of modules have in common. They are immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the options themselves
 */
public abstract class ModuleOptions<O extends ModuleOptions<O>> implements Cloneable {
    /** For options of modules of one's own. */
    protected ModuleOptions() {}

    /**
     * A copy with a change: what {@code with} methods of subclasses return.
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
