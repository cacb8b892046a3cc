/** Optimizers, as in {@code torch.optim}. Each step is one operator of the native library. */
package org.rushlight.optim;
