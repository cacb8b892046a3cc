package org.rushlight.optim;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Parameters that are optimized with the same options.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(2).requiresGrad_(true);
 * Tensor b = Torch.ones(1).requiresGrad_(true);
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
     * Creates a group with the options of the optimizer.
     *
     * @param parameters parameters to optimize
     */
    public ParameterGroup(List<Tensor> parameters) {
        this.parameters = List.copyOf(parameters);
    }

    /**
     * Creates a group with its own options.
     *
     * @param parameters parameters to optimize
     * @param options options of the group
     */
    public ParameterGroup(List<Tensor> parameters, OptimizerOptions<?> options) {
        this(parameters);
        this.options = options;
    }

    /**
     * Returns the optimized parameters.
     *
     * @return the parameters
     */
    public List<Tensor> parameters() {
        return parameters;
    }

    /**
     * Returns the options.
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
     * Changes the options.
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
     * Returns the learning rate.
     *
     * @return the learning rate
     */
    public double lr() {
        return options().lr();
    }

    /**
     * Changes the learning rate, as a schedule does.
     *
     * @param lr the new learning rate
     */
    public void setLr(double lr) {
        setOptions(options().withLr(lr));
    }

    /** Joins an optimizer: missing options are taken from it. */
    void join(OptimizerOptions<?> defaults) {
        if (options == null) {
            options = defaults;
        } else if (options.getClass() != defaults.getClass()) {
            throw new IllegalArgumentException("options of another optimizer: " + options.getClass().getName());
        }
        options.check();
    }
}
