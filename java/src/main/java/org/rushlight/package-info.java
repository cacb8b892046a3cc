/**
 * Tensors, operators, autograd, random numbers and files: PyTorch on the JVM in one jar. What may be null is marked so
 * ({@code @Nullable}); everything else may not.
 */
@NullMarked
package org.rushlight;

import org.jspecify.annotations.NullMarked;
