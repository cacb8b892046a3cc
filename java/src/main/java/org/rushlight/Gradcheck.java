package org.rushlight;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * Compares analytical gradients with finite differences, with PyTorch's names, defaults and messages:
 *
 * <pre>{@code
 * Tensor x = Tensor.of(0.5, 1.5).requiresGrad_(true);
 * new Gradcheck().atol(1e-6).gradcheck(in -> new Tensor[] {in[0].sin()}, x);
 * }</pre>
 */
public final class Gradcheck {
    private double eps = 1e-6;
    private double atol = 1e-5;
    private double rtol = 1e-3;
    private double nondetTol;
    private boolean raiseException = true;
    private boolean checkUndefinedGrad = true;
    private boolean fastMode;

    /** Creates PyTorch's default options. */
    public Gradcheck() {}

    /**
     * Sets the step of the finite differences.
     *
     * @param eps the step
     * @return these options
     */
    public Gradcheck eps(double eps) {
        this.eps = eps;
        return this;
    }

    /**
     * Sets the absolute tolerance.
     *
     * @param atol the tolerance
     * @return these options
     */
    public Gradcheck atol(double atol) {
        this.atol = atol;
        return this;
    }

    /**
     * Sets the relative tolerance.
     *
     * @param rtol the tolerance
     * @return these options
     */
    public Gradcheck rtol(double rtol) {
        this.rtol = rtol;
        return this;
    }

    /**
     * Sets the largest allowed difference between two backward passes over the same input.
     *
     * @param nondetTol the largest difference
     * @return these options
     */
    public Gradcheck nondetTol(double nondetTol) {
        this.nondetTol = nondetTol;
        return this;
    }

    /**
     * Sets whether a mismatch throws an exception, or returns false.
     *
     * @param raiseException whether to throw
     * @return these options
     */
    public Gradcheck raiseException(boolean raiseException) {
        this.raiseException = raiseException;
        return this;
    }

    /**
     * Sets whether to check that backward accepts undefined output gradients.
     *
     * @param checkUndefinedGrad whether to check
     * @return these options
     */
    public Gradcheck checkUndefinedGrad(boolean checkUndefinedGrad) {
        this.checkUndefinedGrad = checkUndefinedGrad;
        return this;
    }

    /**
     * Sets whether to compare one random projection instead of the whole Jacobian.
     *
     * @param fastMode whether to compare one projection
     * @return these options
     */
    public Gradcheck fastMode(boolean fastMode) {
        this.fastMode = fastMode;
        return this;
    }

    /**
     * Compares the gradients of backward with finite differences.
     *
     * @param function the function; it is called many times and must always return the same number of results
     * @param inputs inputs; those that require a gradient are checked and should have double precision
     * @return whether all gradients match
     */
    public boolean gradcheck(Function<Tensor[], Tensor[]> function, Tensor... inputs) {
        return check(function, inputs.clone(), null, false);
    }

    /**
     * Checks second-order gradients: {@link #gradcheck} of the backward pass, with respect to the inputs and the output
     * gradients.
     *
     * @param function the function; it is called many times and must always return the same number of results
     * @param inputs inputs; those that require a gradient are checked and should have double precision
     * @param gradOutputs output gradients, one per result that requires a gradient; null for random ones
     * @return whether all gradients match
     */
    public boolean gradgradcheck(Function<Tensor[], Tensor[]> function, List<Tensor> inputs, @Nullable List<Tensor> gradOutputs) {
        return check(function, inputs.toArray(Tensor[]::new), gradOutputs == null ? null : gradOutputs.toArray(Tensor[]::new), true);
    }

    private boolean check(Function<Tensor[], Tensor[]> function, Tensor[] inputs, Tensor @Nullable [] gradOutputs, boolean second) {
        double[] numbers = {eps, atol, rtol, nondetTol};
        NativeOwner[] held = Tensor.concat(inputs, gradOutputs);
        Tensor.acquire(held);
        String problem;
        try {
            problem = NativeCore.gradcheck(
                Tensor.upcall((given, none, flags) -> function.apply(given)), Tensor.handles(inputs), Tensor.handlesOrZero(gradOutputs),
                second, numbers, fastMode, checkUndefinedGrad);
        } finally {
            Tensor.release(held);
        }
        if (problem != null && raiseException) {
            throw new RushlightException(problem);
        }
        return problem == null;
    }
}
