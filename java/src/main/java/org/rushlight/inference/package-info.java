/**
 * Serving models: a {@link org.rushlight.inference.Predictor} runs a model for the requests of many threads.
 *
 * <pre>{@code
 * model.eval();
 * try (Predictor predictor = Predictor.of(model, new Predictor.Options().withMaxBatchSize(8))) {
 *     System.out.println(Arrays.toString(predictor.predict(Torch.zeros(1, 28, 28)).shape())); // [10]
 * }
 * }</pre>
 */
@NullMarked
package org.rushlight.inference;

import org.jspecify.annotations.NullMarked;
