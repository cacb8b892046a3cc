/**
 * PyTorch's Java API for saved models: load a file that {@code torch.jit.save} wrote, and run its methods.
 *
 * <p>{@link org.pytorch.Module} loads and runs, {@link org.pytorch.IValue} holds arguments and results, and {@link
 * org.pytorch.Tensor} has its elements in a direct buffer. Programs that were written for PyTorch's library compile and
 * run with this one. The classes of Android (assets and contexts) are not here.
 *
 * <p>Errors of a model and of files are {@link org.rushlight.RushlightException}, a {@link RuntimeException}.
 */
@NullMarked
package org.pytorch;

import org.jspecify.annotations.NullMarked;
