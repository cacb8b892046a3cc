/** Modules: layers with parameters, named, trained, saved and loaded as in {@code torch.nn}. */
package org.rushlight.nn;
