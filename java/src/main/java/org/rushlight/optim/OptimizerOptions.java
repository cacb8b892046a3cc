package org.rushlight.optim;

import java.util.LinkedHashMap;
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
     * Passes each option by its name in PyTorch, for saving and for restoring: a subclass sets each of its fields to what it gets back, as
     * {@code momentum = values.of("momentum", momentum)}. The learning rate is passed already.
     *
     * @param values takes and gives back each option
     */
    protected void exchange(Values values) {}

    final void exchangeAll(Values values) {
        lr = values.of("lr", lr);
        exchange(values);
    }

    /** Numbers by PyTorch's names, for saving. */
    final Map<String, Double> saved() {
        Map<String, Double> all = new LinkedHashMap<>();
        with(copy -> copy.exchangeAll(new Values(all, false)));
        return all;
    }

    /** A copy with other numbers, checked; options without one stay as they are. */
    final OptimizerOptions<?> restored(Map<String, Double> numbers) {
        Map<String, Double> left = new LinkedHashMap<>(numbers);
        O copy = with(options -> options.exchangeAll(new Values(left, true)));
        if (!left.isEmpty()) {
            throw new IllegalArgumentException("unknown options " + left.keySet());
        }
        copy.check();
        return copy;
    }

    /** What {@link #exchange} passes the options to. */
    protected static final class Values {
        private final Map<String, Double> numbers;
        private final boolean restoring;

        private Values(Map<String, Double> numbers, boolean restoring) {
            this.numbers = numbers;
            this.restoring = restoring;
        }

        /**
         * Passes a number.
         *
         * @param name its name in PyTorch
         * @param value what it is
         * @return what it is to be
         */
        public double of(String name, double value) {
            if (!restoring) {
                numbers.put(name, value);
                return value;
            }
            Double number = numbers.remove(name);
            return number == null ? value : number;
        }

        /**
         * Passes a whole number.
         *
         * @param name its name in PyTorch
         * @param value what it is
         * @return what it is to be
         */
        public long of(String name, long value) {
            double number = of(name, (double) value);
            if (number != Math.rint(number)) {
                throw new IllegalArgumentException("the option '" + name + "' must be a whole number, not " + number);
            }
            return (long) number;
        }

        /**
         * Passes a choice: saved as 0 or 1.
         *
         * @param name its name in PyTorch
         * @param value what it is
         * @return what it is to be
         */
        public boolean of(String name, boolean value) {
            return of(name, value ? 1.0 : 0.0) != 0;
        }
    }
}
