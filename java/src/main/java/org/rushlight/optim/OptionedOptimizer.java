package org.rushlight.optim;

import java.util.List;
import org.rushlight.Tensor;

/**
 * An optimizer whose groups all have options of one type: {@link ParameterGroup} rejects other types.
 *
 * @param <O> the type of the options
 */
abstract class OptionedOptimizer<O extends OptimizerOptions<O>> extends Optimizer {
    OptionedOptimizer(O options, ParameterGroup... groups) {
        super(options, groups);
    }

    @SuppressWarnings("unchecked") // the constructor took an O, and groups take no options of another class
    private O own(OptimizerOptions<?> options) {
        return (O) options;
    }

    /**
     * Returns the options of the first group.
     *
     * @return the options
     */
    public O options() {
        return own(parameterGroups().get(0).options());
    }

    /**
     * Changes the options of every group.
     *
     * @param options the new options
     */
    public void setOptions(O options) {
        parameterGroups().forEach(group -> group.setOptions(options));
    }

    @Override
    protected final void update(OptimizerOptions<?> options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        updateGroup(own(options), which, values, grads);
    }

    /** Performs a step for one group: {@link Optimizer#update} with typed options. */
    abstract void updateGroup(O options, List<Integer> which, Tensor[] values, Tensor[] grads);
}
