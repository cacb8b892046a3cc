/**
 * Layers, losses and models, as in {@code torch.nn}.
 *
 * <p>A layer is constructed from its required arguments, or from its options, which start with PyTorch's defaults, are
 * immutable, and are changed by {@code with} methods that return a copy:
 *
 * <pre>{@code
 * Module features = new Sequential(
 *     new Conv2d(new Conv2d.Options(1, 8, 3).withPadding(1)), new ReLU(), new MaxPool2d(2), new Flatten(), new Linear(8 * 14 * 14, 10));
 * Tensor scores = features.forward(images);
 * Tensor loss = new CrossEntropyLoss(new CrossEntropyLoss.Options().withLabelSmoothing(0.1)).forward(scores, classes);
 * }</pre>
 *
 * <p>Sizes are one number for all dimensions, or one per dimension. Layers with several inputs or results have their
 * own {@code forward} methods; results are records. {@link org.rushlight.nn.Functional} has the functions that the
 * layers call. The same seed gives the same parameters as PyTorch's C++ modules.
 */
@NullMarked
package org.rushlight.nn;

import org.jspecify.annotations.NullMarked;
