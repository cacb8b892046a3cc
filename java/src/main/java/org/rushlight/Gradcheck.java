package org.rushlight;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * Are the derivatives of a function what differences say? With PyTorch's names, defaults and texts:
 *
 * <pre>{@code
 * Tensor x = Tensor.of(0.5, 1.5).requires_grad_(true);
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

    /** PyTorch's defaults. */
    public Gradcheck() {}

    /**
     * Step of the differences.
     *
     * @param eps the step
     * @return these options
     */
    public Gradcheck eps(double eps) {
        this.eps = eps;
        return this;
    }

    /**
     * Absolute tolerance.
     *
     * @param atol the tolerance
     * @return these options
     */
    public Gradcheck atol(double atol) {
        this.atol = atol;
        return this;
    }

    /**
     * Relative tolerance.
     *
     * @param rtol the tolerance
     * @return these options
     */
    public Gradcheck rtol(double rtol) {
        this.rtol = rtol;
        return this;
    }

    /**
     * How far two backward passes over the same input may be apart.
     *
     * @param nondetTol the distance
     * @return these options
     */
    public Gradcheck nondetTol(double nondetTol) {
        this.nondetTol = nondetTol;
        return this;
    }

    /**
     * Is a mismatch an exception that names output, input and numbers, or the answer false?
     *
     * @param raiseException true for an exception
     * @return these options
     */
    public Gradcheck raiseException(boolean raiseException) {
        this.raiseException = raiseException;
        return this;
    }

    /**
     * Check that backward works with gradients missing for some outputs, too?
     *
     * @param checkUndefinedGrad true to check that
     * @return these options
     */
    public Gradcheck checkUndefinedGrad(boolean checkUndefinedGrad) {
        this.checkUndefinedGrad = checkUndefinedGrad;
        return this;
    }

    /**
     * Compare one random product with the Jacobian instead of all of it?
     *
     * @param fastMode true for one product
     * @return these options
     */
    public Gradcheck fastMode(boolean fastMode) {
        this.fastMode = fastMode;
        return this;
    }

    /**
     * Compares what backward gives with differences.
     *
     * @param function is called many times, always with as many results
     * @param inputs those are checked that require a gradient; they should be of double precision
     * @return do all agree?
     */
    public boolean gradcheck(Function<Tensor[], Tensor[]> function, Tensor... inputs) {
        return check(function, inputs.clone(), null, false);
    }

    /**
     * {@link #gradcheck} of the gradients of a function by its inputs and by the gradients that come in.
     *
     * @param function is called many times, always with as many results
     * @param inputs those are checked that require a gradient; they should be of double precision
     * @param gradOutputs the gradients that come in, one for each result that requires a gradient; null: random ones
     * @return do all agree?
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
