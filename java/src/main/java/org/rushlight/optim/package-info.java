/**
 * Optimizers and schedules, as in {@code torch.optim}. The steps of all but LBFGS are one operator of the native library each. Options
 * start with PyTorch's defaults, are immutable, and are changed by {@code with} methods that return a copy.
 */
@NullMarked
package org.rushlight.optim;

import org.jspecify.annotations.NullMarked;
