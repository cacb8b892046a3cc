package org.rushlight.optim;

import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rushlight.TensorValueException;

/**
 * What a step of an optimizer does. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the options themselves
 */
public abstract class OptimizerOptions<O extends OptimizerOptions<O>> implements Cloneable {
    double lr;

    /**
     * Options of an optimizer.
     *
     * @param lr learning rate
     */
    protected OptimizerOptions(double lr) {
        this.lr = lr;
    }

    /**
     * A copy with a change: what {@code with} methods of subclasses return.
     *
     * @param change sets fields of the copy
     * @return the copy
     */
    @SuppressWarnings("unchecked")
    protected final O with(Consumer<O> change) {
        try {
            O copy = (O) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("options can be copied", e);
        }
    }

    /**
     * The learning rate.
     *
     * @return the rate
     */
    public final double lr() {
        return lr;
    }

    /**
     * Sets the learning rate.
     *
     * @param value learning rate
     * @return the changed options
     */
    public final O withLr(double value) {
        return with(options -> options.lr = value);
    }

    /** What {@link OneCycleLR} calls momentum; null where there is none. */
    @Nullable Double momentumOrBeta() {
        return null;
    }

    /** A copy with another momentum. */
    OptimizerOptions<?> withMomentumOrBeta(double value) {
        throw new IllegalStateException("these options have no momentum");
    }

    /**
     * Checks the ranges: called when an optimizer takes the options.
     *
     * @throws TensorValueException if something is out of its range
     */
    protected void check() {
        check(lr >= 0, "Invalid learning rate: ", lr);
    }

    /**
     * Checks one thing.
     *
     * @param fine is it as it should be?
     * @param message what is wrong if it is not
     * @param value the value, which follows the message
     */
    protected static void check(boolean fine, String message, Object value) {
        if (!fine) {
            throw new TensorValueException(message + value);
        }
    }

    /**
     * Names and values, for saving.
     *
     * @return numbers by PyTorch's names
     */
    protected abstract Map<String, Double> values();
}
