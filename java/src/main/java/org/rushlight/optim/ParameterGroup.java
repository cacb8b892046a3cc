package org.rushlight.optim;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Parameters that are trained with the same options.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(2).requires_grad_(true);
 * Tensor b = Torch.ones(1).requires_grad_(true);
 * ParameterGroup slow = new ParameterGroup(List.of(b), new SGD.Options(0.01));
 * try (SGD optimizer = new SGD(new SGD.Options(0.1), new ParameterGroup(List.of(w)), slow)) {
 *     System.out.println(optimizer.parameterGroups().get(1).lr()); // 0.01
 * }
 * }</pre>
 */
public final class ParameterGroup {
    private final List<Tensor> parameters;
    private @Nullable OptimizerOptions<?> options;

    /**
     * A group with the options of the optimizer.
     *
     * @param parameters what to train
     */
    public ParameterGroup(List<Tensor> parameters) {
        this.parameters = List.copyOf(parameters);
    }

    /**
     * A group with options of its own.
     *
     * @param parameters what to train
     * @param options what a step does with them
     */
    public ParameterGroup(List<Tensor> parameters, OptimizerOptions<?> options) {
        this(parameters);
        this.options = options;
    }

    /**
     * What is trained.
     *
     * @return the parameters
     */
    public List<Tensor> parameters() {
        return parameters;
    }

    /**
     * What a step does.
     *
     * @return the options
     */
    public OptimizerOptions<?> options() {
        if (options == null) {
            throw new IllegalStateException("the group belongs to no optimizer yet");
        }
        return options;
    }

    /**
     * Changes what a step does.
     *
     * @param options the new options
     */
    public void setOptions(OptimizerOptions<?> options) {
        if (this.options != null && this.options.getClass() != options.getClass()) {
            throw new IllegalArgumentException("options of another optimizer: " + options.getClass().getName());
        }
        options.check();
        this.options = options;
    }

    /**
     * The learning rate.
     *
     * @return the rate
     */
    public double lr() {
        return options().lr();
    }

    /**
     * Changes the learning rate, as a schedule does.
     *
     * @param lr the new rate
     */
    public void setLr(double lr) {
        setOptions(options().withLr(lr));
    }

    /** Joins an optimizer: options that are missing are its own. */
    void join(OptimizerOptions<?> defaults) {
        if (options == null) {
            options = defaults;
        } else if (options.getClass() != defaults.getClass()) {
            throw new IllegalArgumentException("options of another optimizer: " + options.getClass().getName());
        }
        options.check();
    }
}
