package org.rushlight.nn;

import org.rushlight.Results;
import org.rushlight.Tensor;

/**
 * Results of pooling with indices.
 *
 * <pre>{@code
 * Pooled pooled = new MaxPool1d(2).forwardWithIndices(Tensor.of(new float[][] {{1, 3, 2, 0}}));
 * System.out.println(pooled.output() + " " + pooled.indices()); // tensor([[3., 2.]]) tensor([[1, 2]])
 * }</pre>
 *
 * @param output the maxima
 * @param indices their indices in the input
 */
public record Pooled(Tensor output, Tensor indices) {
    static Pooled of(Results.Result0Result1 results) {
        return new Pooled(results.result0(), results.result1());
    }
}
