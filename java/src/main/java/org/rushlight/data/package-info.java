/**
 * Data sets for training, as in {@code torch.data} of C++: datasets, transforms, samplers, and a loader that prepares
 * batches on its own threads.
 *
 * <pre>{@code
 * try (Dataset<Example> images = new MNIST(folder, MNIST.Mode.TRAIN);
 *         DataLoader<Example, Example> loader = DataLoader.of(images.map(Transforms.data(Transforms.normalize(0.1307, 0.3081))),
 *             new DataLoader.Options(64).withWorkers(2).withShuffle(true))) {
 *     for (Example batch : loader) {
 *         try (Scope scope = new Scope()) {
 *             Tensor scores = model.forward(batch.data());
 *             // ...
 *         }
 *     }
 * }
 * }</pre>
 */
@NullMarked
package org.rushlight.data;

import org.jspecify.annotations.NullMarked;
