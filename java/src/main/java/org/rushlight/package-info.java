/** Tensors, operators, autograd, random numbers and files: PyTorch on the JVM in one jar. */
package org.rushlight;
