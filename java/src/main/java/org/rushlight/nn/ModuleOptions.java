package org.rushlight.nn;

import org.rushlight.CopiedOptions;

/**
 * Base class of the options of modules. They are immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the type of the options itself
 */
public abstract class ModuleOptions<O extends ModuleOptions<O>> extends CopiedOptions<O> {
    /** Constructor for options of custom modules. */
    protected ModuleOptions() {}
}
