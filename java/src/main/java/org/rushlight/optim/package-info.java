/**
 * Optimizers and learning-rate schedules, as in {@code torch.optim}. All except L-BFGS update the parameters with one
 * native operator per step. Options start with PyTorch's defaults, are immutable, and are changed by {@code with}
 * methods that return a copy.
 */
@NullMarked
package org.rushlight.optim;

import org.jspecify.annotations.NullMarked;
