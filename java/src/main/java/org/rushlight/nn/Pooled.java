package org.rushlight.nn;

import org.rushlight.Results;
import org.rushlight.Tensor;

/**
 * What pooling returns with indices.
 *
 * @param output the pooled numbers
 * @param indices where in the input they are
 */
public record Pooled(Tensor output, Tensor indices) {
    static Pooled of(Results.Result0Result1 results) {
        return new Pooled(results.result0(), results.result1());
    }
}
