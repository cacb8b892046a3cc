/**
 * Tensors, operators, autograd, random numbers and files: PyTorch on the JVM in one jar. Nullable values are annotated
 * ({@code @Nullable}); everything else is non-null.
 *
 * <p>Threads: tensors may be used on any thread. A {@link org.rushlight.Scope} and a guard such as {@link
 * org.rushlight.NoGrad} belong to the thread that opened them, and are closed there in the reverse order of opening. On
 * a virtual thread, which may change the native thread that it runs on, operators work; guards, and what opens one
 * (steps of optimizers, constructors of layers, {@link org.rushlight.AutogradFunction#apply}), need {@link
 * org.rushlight.Torch#pinned}.
 */
@NullMarked
package org.rushlight;

import org.jspecify.annotations.NullMarked;
