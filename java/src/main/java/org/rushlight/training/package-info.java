/**
 * A loop for training with listeners and metrics; a program may also write its own loop over {@link
 * org.rushlight.data.DataLoader} and {@link org.rushlight.optim.Optimizer}.
 */
@NullMarked
package org.rushlight.training;

import org.jspecify.annotations.NullMarked;
