package org.rushlight.optim;

import java.util.List;
import java.util.Map;
import org.rushlight.Tensor;

/**
 * State shared by {@link Adam} and {@link AdamW}.
 *
 * @param <O> the type of the options
 */
abstract class AdamOptimizer<O extends AdamOptions<O>> extends OptionedOptimizer<O> {
    AdamOptimizer(O options, ParameterGroup... groups) {
        super(options, groups);
    }

    @Override
    protected final Map<String, StateKind> stateKinds(int index, Tensor parameter) {
        StateKind like = StateKind.like(parameter);
        return Map.of("step", StateKind.STEP, "exp_avg", like, "exp_avg_sq", like, "max_exp_avg_sq", like);
    }

    /**
     * State of some parameters: running averages of the gradients and of their squares, the maxima of the latter with
     * amsgrad, and step counts.
     */
    record Moments(Tensor[] means, Tensor[] squares, Tensor[] maxima, Tensor[] steps) {}

    /** The state for the current step. */
    final Moments moments(O options, List<Integer> which, Tensor[] values) {
        Tensor[] steps = countSteps(which);
        Tensor[] means = zeros(which, "exp_avg", values);
        Tensor[] squares = zeros(which, "exp_avg_sq", values);
        Tensor[] maxima = options.amsgrad ? zeros(which, "max_exp_avg_sq", values) : new Tensor[0];
        return new Moments(means, squares, maxima, steps);
    }
}
