package org.rushlight.optim;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rushlight.CopiedOptions;
import org.rushlight.TensorValueException;

/**
 * Base class of the options of optimizers. Immutable: each {@code with} method returns a changed copy.
 *
 * @param <O> the type of the options itself
 */
public abstract class OptimizerOptions<O extends OptimizerOptions<O>> extends CopiedOptions<O> {
    double lr;

    /**
     * Creates options.
     *
     * @param lr learning rate
     */
    protected OptimizerOptions(double lr) {
        this.lr = lr;
    }

    /**
     * Returns the learning rate.
     *
     * @return the learning rate
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

    /** The value that {@link OneCycleLR} treats as momentum; null if there is none. */
    @Nullable Double momentumOrBeta() {
        return null;
    }

    /** Returns a copy with another momentum. */
    OptimizerOptions<?> withMomentumOrBeta(double value) {
        throw new IllegalStateException("these options have no momentum");
    }

    /**
     * Checks the ranges; called when an optimizer receives the options.
     *
     * @throws TensorValueException if a value is out of range
     */
    protected void check() {
        check(lr >= 0, "Invalid learning rate: ", lr);
    }

    /**
     * Checks a condition.
     *
     * @param fine the condition
     * @param message error message if it is false
     * @param value the value, which follows the message
     */
    protected static void check(boolean fine, String message, Object value) {
        if (!fine) {
            throw new TensorValueException(message + value);
        }
    }

    /**
     * Passes each option by its name in PyTorch, for saving and restoring: a subclass sets each of its fields to the
     * returned value, as in {@code momentum = values.of("momentum", momentum)}. The learning rate is already passed.
     *
     * @param values receives each option and returns its value
     */
    protected void exchange(Values values) {}

    final void exchangeAll(Values values) {
        lr = values.of("lr", lr);
        exchange(values);
    }

    /** Returns the numeric options by PyTorch's names, for saving. */
    final Map<String, Double> saved() {
        Map<String, Double> all = new LinkedHashMap<>();
        with(copy -> copy.exchangeAll(new Values(all, false)));
        return all;
    }

    /** Returns the options by PyTorch's names: a Double, Long or Boolean each. */
    final Map<String, Object> typed() {
        Values values = new Values(new LinkedHashMap<>(), false);
        with(copy -> copy.exchangeAll(values));
        return values.typed;
    }

    /** Returns a copy with other values, checked; options without a value stay unchanged. */
    final OptimizerOptions<?> restored(Map<String, Double> numbers) {
        Map<String, Double> left = new LinkedHashMap<>(numbers);
        O copy = with(options -> options.exchangeAll(new Values(left, true)));
        if (!left.isEmpty()) {
            throw new IllegalArgumentException("unknown options " + left.keySet());
        }
        copy.check();
        return copy;
    }

    /** The visitor of {@link #exchange}. */
    protected static final class Values {
        private final Map<String, Double> numbers;
        private final boolean restoring;
        /** The saved values with their types. */
        private final Map<String, Object> typed = new LinkedHashMap<>();

        private Values(Map<String, Double> numbers, boolean restoring) {
            this.numbers = numbers;
            this.restoring = restoring;
        }

        /**
         * Passes a number.
         *
         * @param name its name in PyTorch
         * @param value its current value
         * @return its new value
         */
        public double of(String name, double value) {
            if (!restoring) {
                numbers.put(name, value);
                typed.put(name, value);
                return value;
            }
            Double number = numbers.remove(name);
            return number == null ? value : number;
        }

        /**
         * Passes an integer.
         *
         * @param name its name in PyTorch
         * @param value its current value
         * @return its new value
         */
        public long of(String name, long value) {
            double number = of(name, (double) value);
            if (number != Math.rint(number)) {
                throw new IllegalArgumentException("the option '" + name + "' must be a whole number, not " + number);
            }
            typed.put(name, (long) number);
            return (long) number;
        }

        /**
         * Passes a boolean, saved as 0 or 1.
         *
         * @param name its name in PyTorch
         * @param value its current value
         * @return its new value
         */
        public boolean of(String name, boolean value) {
            boolean found = of(name, value ? 1.0 : 0.0) != 0;
            typed.put(name, found);
            return found;
        }
    }
}
